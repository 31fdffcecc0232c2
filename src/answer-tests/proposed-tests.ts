import { z } from 'zod'
import type { DismissedTest, ProposedTest, TestReport } from '../contract/answer-tests.ts'
import { undefinedOn } from '../contract/errors.ts'
import { SeqId } from '../contract/vocabulary.ts'
import { type KbView, viewAs } from '../kb/access/kb-view.ts'
import type { Context } from '../kb/context.ts'
import type { KnowledgeBase } from '../kb/knowledge-base.ts'
import { lastOfSenders } from '../kb/projection/candidate-queue.ts'
import { accessOf } from '../kb/projection/neuron-queries.ts'
import { parseCandidate } from '../markdown/file/candidate-file.ts'
import { dismissCandidate } from '../queue/decide-candidate.ts'
import type { Caller } from '../rules/access/caller.ts'
import { parseMetadata } from '../rules/candidates/metadata.ts'
import { compareText, oneLine } from '../rules/text/lines.ts'
import { forgetQuestions, questionKey } from '../search/kb/question-log.ts'
import { maxQuestions } from '../state/asked-questions.ts'
import { pauses } from '../system/pauses.ts'
import { readTestFiles } from './test-files.ts'

/** Maximum votes of one list, the latest before flags, with a share for each sender; and maximum refused questions without a test. */
const maxOfEach = 50

/** Metadata that `feedbackCandidate` writes about an answer. */
const Feedback = z.object({
  vote: z.enum(['up', 'down', 'flag']),
  question: z
    .string()
    .transform((text) => oneLine(text, 1000))
    .pipe(z.string().min(1)),
  reason: z.string().exactOptional(),
  shouldCite: SeqId.exactOptional(),
})

/**
 * Lists proposed tests: questions with pending feedback of readers, and questions that chat refused, unless a test on main covers
 * them. A question with a page that should be cited is covered only by a test that cites it. Derived from the candidates and
 * counts alone. For curators.
 * @throws {GanglionError} `not_found`
 */
export async function listProposedTests(
  ctx: Context,
  { tenantId }: Caller,
  kbName: string,
): Promise<Required<Pick<TestReport, 'proposed'>> & Pick<TestReport, 'moreProposed'>> {
  const kb = await ctx.kb(tenantId, kbName)
  await forgetQuestions(ctx, kb)
  const { tests } = await readTestFiles(kb.projection.read, kb.repository)
  const asked = Map.groupBy(tests, ({ test }) => questionKey(test.question))
  const proposed = new Map<string, Omit<ProposedTest, 'test'>>()
  for (const { question, ...feedback } of await feedbackOf(kb, maxOfEach)) {
    const known = proposed.get(questionKey(question))
    if (known !== undefined) known.feedback.push(feedback)
    else proposed.set(questionKey(question), { question, refused: 0, feedback: [feedback] })
  }
  const refused = await ctx.askedQuestions.list(kb.identity.id, { order: 'refused', offset: 0, limit: maxQuestions })
  const untested = refused.filter(({ question }) => proposed.has(question) || !asked.has(question))
  for (const { question, refused: times } of untested.slice(0, maxOfEach)) {
    const one = proposed.get(question) ?? { question, feedback: [] }
    proposed.set(question, { ...one, refused: times })
  }
  const view = await viewAs(kb, { audience: 'tool' })
  const listed = [...proposed].flatMap(([key, one]) => {
    const test = testOf(one, kb, view)
    const [page] = test.cites ?? []
    const held = asked.get(key)?.some((known) => page === undefined || known.test.cites?.includes(page))
    return held ? [] : [{ ...one, test }]
  })
  const hasMore = untested.length > maxOfEach || votesOf(kb, maxOfEach + 1).length > maxOfEach
  return { proposed: listed, ...(hasMore && { moreProposed: true }) }
}

/** Proposes a test for a question. Ignores removed pages; asks as a curator for a page that tools do not see. */
function testOf(
  { question, refused, feedback }: Omit<ProposedTest, 'test'>,
  { projection }: KnowledgeBase,
  view: KbView,
): ProposedTest['test'] {
  const isThere = (seqId: string | undefined) => seqId !== undefined && accessOf(projection.read, seqId) !== undefined
  const named = feedback.filter(({ shouldCite }) => isThere(shouldCite))
  const page = named.toSorted((a, b) => compareText(a.candidateId, b.candidateId)).at(-1)?.shouldCite
  const asked = { question, audience: 'tool' as const, top: 5 }
  if (page !== undefined)
    return { ...asked, cites: [page], ...(!view.seesNeuron(page) && { audience: 'curator' as const }) }
  const isLiked = refused === 0 && feedback.every(({ vote }) => vote === 'up')
  return isLiked ? asked : { ...asked, refuses: false }
}

/** Returns the latest pending votes, so that a named page is proposed however much others vote. */
function votesOf(kb: KnowledgeBase, limit: number): { id: string; blob: string }[] {
  return lastOfSenders(kb.projection.read, 'reader-feedback', limit)
}

async function feedbackOf(
  kb: KnowledgeBase,
  limit: number,
): Promise<(ProposedTest['feedback'][number] & { question: string })[]> {
  const pause = pauses()
  const found: Awaited<ReturnType<typeof feedbackOf>> = []
  for (const { id: candidateId, blob } of votesOf(kb, limit)) {
    const { metadata } = parseCandidate(await kb.repository.readTextOnce(blob))
    const said = Feedback.safeParse(parseMetadata(metadata).data)
    if (said.success) found.push({ candidateId, ...said.data })
    await pause()
  }
  return found
}

/**
 * Dismisses a proposed test: all feedback on its question, and the counts of the question, which returns once chat refuses it
 * again. For curators.
 * @throws {GanglionError} `not_found`
 */
export async function dismissProposedTest(
  ctx: Context,
  caller: Caller,
  kbName: string,
  { question, reason }: { question: string; reason?: string },
): Promise<DismissedTest> {
  const kb = await ctx.kb(caller.tenantId, kbName)
  const feedback = (await feedbackOf(kb, Number.MAX_SAFE_INTEGER)).filter(
    (one) => questionKey(one.question) === questionKey(question),
  )
  const candidates: string[] = []
  const dismiss = async ({ candidateId }: { candidateId: string }) => {
    const dismissing = dismissCandidate(ctx, caller, candidateId, reason === undefined ? {} : { reason })
    // Another curator may decide meanwhile.
    if ((await dismissing.catch(undefinedOn('not_pending'))) !== undefined) candidates.push(candidateId)
  }
  for (let at = 0; at < feedback.length; at += maxOfEach)
    await Promise.all(feedback.slice(at, at + maxOfEach).map(dismiss))
  await ctx.askedQuestions.remove(kb.identity.id, questionKey(question))
  return { candidates }
}
