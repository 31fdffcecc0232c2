import { type AnswerTest, shownResults, type TestResult, type TestResultLine } from '../contract/answer-tests.ts'
import type { PlacedTest } from '../markdown/file/test-file.ts'
import type { Audience } from '../rules/access/audience.ts'
import { oneLine } from '../rules/text/lines.ts'
import { forEachAtOnce } from '../system/concurrency/for-each-at-once.ts'

/** Answer to a test's question. `cited`: seqIds, none for a refusal. `found`: passages it was made from, best first. */
export type TestedAnswer = { text: string; cited: readonly string[]; found: TestResultLine[] }

/** Answers the questions of tests, deterministically. */
export interface Asker {
  /** Returns the hits of a search, best first; a Source has no seqId. */
  search(q: string, audience: Audience): Promise<{ seqId: string | null; title: string | null }[]>
  /** Returns passages of the first `count` Neurons for a question, best first. */
  retrieve(question: string, audience: Audience, count: number): Promise<TestResultLine[]>
  /** Returns the chat's answer to a question. */
  answer(question: string, audience: Audience): Promise<TestedAnswer>
}

export type FiledTest = PlacedTest & { file: string }

const atOnce = 4

/** Returns the result of each test, in order. Throws what the asker throws. */
export async function runTests(tests: readonly FiledTest[], asker: Asker): Promise<TestResult[]> {
  const results = new Map<FiledTest, TestResult>()
  await forEachAtOnce(tests, atOnce, async (test) => {
    results.set(test, await runTest(test, asker))
  })
  return tests.flatMap((test) => results.get(test) ?? [])
}

async function runTest({ file, line, test }: FiledTest, asker: Asker): Promise<TestResult> {
  const { question, audience, top, search } = test
  const isAnswered = needsAnswer(test)
  // Passages need no separate retrieval if there is an answer, which has them.
  const isRetrieved = test.retrieves !== undefined || !isAnswered
  const [retrieved, answer, listed] = await Promise.all([
    isRetrieved ? asker.retrieve(question, audience, Math.max(top, shownResults)) : undefined,
    isAnswered ? asker.answer(question, audience) : undefined,
    search === undefined ? undefined : asker.search(search.q, audience),
  ])
  const found = retrieved ?? answer?.found ?? []
  const failures = [
    ...missing(test, found),
    ...(answer === undefined ? [] : wrongIn(test, answer)),
    ...(search === undefined || listed === undefined ? [] : notFirst(search, listed)),
  ]
  const place = { file, line, question, audience }
  return { ...place, passed: failures.length === 0, failures, top: found.slice(0, shownResults) }
}

function needsAnswer({ cites, contains, notContains, refuses }: AnswerTest): boolean {
  return [cites, contains, notContains, refuses].some((expected) => expected !== undefined)
}

function missing({ retrieves = [], top }: AnswerTest, found: readonly TestResultLine[]): string[] {
  const first = found.slice(0, top).map(({ seqId }) => seqId)
  const listed = first.length === 0 ? 'nothing is found' : `found: ${first.join(', ')}`
  return retrieves
    .filter((seqId) => !first.includes(seqId))
    .map((seqId) => `${seqId} is not among the first ${top}; ${listed}.`)
}

function wrongIn(
  { cites = [], contains = [], notContains = [], refuses }: AnswerTest,
  { text, cited }: TestedAnswer,
): string[] {
  const said = comparable(text)
  const isRefusal = cited.length === 0
  const citing = isRefusal ? 'it refuses to answer' : `it cites ${cited.join(', ')}`
  return [
    ...cites.filter((seqId) => !cited.includes(seqId)).map((seqId) => `The answer does not cite ${seqId}; ${citing}.`),
    ...contains
      .filter((part) => !said.includes(comparable(part)))
      .map((part) => `The answer does not contain "${part}"; ${isRefusal ? citing : `it says: ${oneLine(text, 200)}`}`),
    ...notContains.filter((part) => said.includes(comparable(part))).map((part) => `The answer contains "${part}".`),
    ...(refuses === true && !isRefusal ? [`The question is answered; ${citing}.`] : []),
    ...(refuses === false && isRefusal ? ['Nothing answers the question.'] : []),
  ]
}

function notFirst(
  { q, first }: NonNullable<AnswerTest['search']>,
  [best]: readonly { seqId: string | null; title: string | null }[],
): string[] {
  if (best?.seqId === first) return []
  const found = best === undefined ? 'nothing is found' : `first is ${best.seqId ?? `the Source ${best.title}`}`
  return [`A search for "${q}" does not list ${first} first; ${found}.`]
}

/** Normalises a text for comparison: case, letter forms, citations and line breaks do not count. */
function comparable(text: string): string {
  const plain = text.replace(/ ?\[[a-z0-9-]+_[0-9]{8}\]/g, '')
  return plain.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ').trim()
}
