import { v7 as uuidv7 } from 'uuid'
import { ChatAnswer, type ChatCitation, type ChatQuestion } from '../contract/chat.ts'
import { GanglionError } from '../contract/errors.ts'
import { viewAs } from '../kb/access/kb-view.ts'
import type { Context } from '../kb/context.ts'
import type { ReadableKb } from '../kb/readable-kb.ts'
import { type Audience, effectiveAudience } from '../rules/access/audience.ts'
import { actorOf, type Caller, isPerson } from '../rules/access/caller.ts'
import { primaryLanguage } from '../rules/text/language.ts'
import type { PartialAnswer } from '../search/kb/kb-search.ts'
import { noteQuestion } from '../search/kb/question-log.ts'
import { blameOf, retrievePassages } from '../search/kb/retrieve.ts'
import { fileName } from '../search/kb/search-kb.ts'
import type { Passage } from '../search/search-index.ts'
import { analyserFor } from '../search/text/analyser.ts'
import { languageOf, sourceWords } from '../sources/compile/words.ts'
import type { ChatSession } from '../state/chat-sessions.ts'
import { type KeepAnswer, runIdempotent } from '../state/run-idempotent.ts'
import { type Answer, type Answerer, extractName, type Turn } from './answerer.ts'
import { groundedIn } from './citations.ts'
import {
  introductionQuery,
  lastTurnsOf,
  maxHistory,
  mayContinue,
  readableTurns,
  searchQuestion,
} from './conversation.ts'
import { askForKnowledgeBase, notReady } from './refused-answer.ts'

const maxPassages = 20

/**
 * Answers a question once for an idempotency key; a repetition returns the first answer. With a key, the text is yielded in one piece,
 * because it may yet turn out to be the answer of an earlier request.
 * @throws as {@link chat}, and `idempotency_key_reused`
 */
export async function* chatOnce(
  ctx: Context,
  answerer: Answerer,
  caller: Caller,
  question: ChatQuestion,
  signal: AbortSignal,
  { idempotencyKey }: { idempotencyKey?: string } = {},
): AsyncGenerator<string, ChatAnswer> {
  if (idempotencyKey === undefined) return yield* chat(ctx, answerer, caller, question, signal)
  const request = {
    idempotencyKey,
    route: 'POST /api/v1/chat',
    body: question,
    newId: () => uuidv7(),
    parse: (answer: unknown) => ChatAnswer.parse(answer),
    // The turn is committed together with the answer of its key.
    committed: async () => undefined,
  }
  const answer = await runIdempotent(ctx, caller, request, (sessionId, keep) =>
    wholeAnswer(chat(ctx, answerer, caller, question, signal, { sessionId, keep })),
  )
  yield answer.answer
  return answer
}

/** Returns the whole answer. */
export async function wholeAnswer<Result>(answering: AsyncGenerator<string, Result>): Promise<Result> {
  for (;;) {
    const step = await answering.next()
    if (step.done === true) return step.value
  }
}

/**
 * Answers a question from a knowledge base, and stores the turn once it is complete. Yields the text as it comes and returns the
 * answer. A session without a named knowledge base continues in its own; without both there is nothing to answer from.
 * @throws {GanglionError} `not_found`, also for a session of another tenant, person, knowledge base or audience; `unavailable`
 * @throws the signal's reason once it aborts
 */
export async function* chat(
  ctx: Context,
  answerer: Answerer,
  caller: Caller,
  question: ChatQuestion,
  signal: AbortSignal,
  { sessionId: newSessionId = uuidv7(), keep }: { sessionId?: string; keep?: KeepAnswer<ChatAnswer> } = {},
): AsyncGenerator<string, ChatAnswer> {
  const audience = effectiveAudience(caller, question.audience ?? (isPerson(caller) ? 'curator' : 'tool'))
  const known = question.sessionId === undefined ? undefined : await findSession(ctx, caller, question.sessionId)
  const kbName = question.knowledgeBaseId ?? known?.kbId
  if (kbName === undefined) {
    const { text, answeredBy } = yield* askForKnowledgeBase()
    return { answer: text, answeredBy, grounded: 'false' }
  }
  const kb = await ctx.readableKb(caller.tenantId, kbName)
  const kbId = kb.identity.id
  const session = known ?? { id: newSessionId, tenantId: caller.tenantId, kbId, audience, ownerId: actorOf(caller).id }
  // Earlier turns may contain what this audience may not see.
  if (session.kbId !== kbId || session.audience !== audience) throw new GanglionError('not_found')

  const { message } = question
  const turns = known === undefined ? [] : await ctx.chatSessions.lastTurns(known.id, maxHistory)
  const readable = readableTurns(turns, await viewAs(kb, { audience }))
  const history = known === undefined ? lastTurnsOf(question.history) : readable.history
  const answering = answerWithin(ctx, answerer, kb, { message, history, audience }, signal)
  const { said, passages, behind } = yield* answering
  const { text, cited, answeredBy, notice } = said
  signal.throwIfAborted()
  const citations = citationsOf(ctx, kb, passages, cited)
  const grounded = groundedIn(said)
  const shown: ChatCitation[] = []
  for (const citation of citations) {
    const passage = passages.find(({ seqId }) => seqId === citation.seqId)
    const place = { kb: kbName, audience }
    const blame = question.blame && passage && { blame: await blameOf(ctx, caller, place, passage) }
    shown.push({ ...citation, ...blame })
  }
  const answer = {
    ...{ answer: text, citations: shown, answeredBy, grounded },
    ...(notice === undefined ? {} : { notice }),
    ...(behind && { behind }),
  }
  // A question to a preview only tests it: unapproved pages must not enter a conversation.
  if (kb.laidOver !== undefined) return answer
  // An extract names all its sources. A model may have used anything it was given without citing it.
  const given = [...passages.map(({ seqId }) => seqId), ...readable.grounds]
  const grounds = answeredBy === extractName ? [...cited, ...(said.shown ?? [])] : [...new Set(given)]
  const kept = (turnId: string) => ({ ...answer, sessionId: session.id, turnId })
  const turnId = await ctx.chatSessions.addTurn(
    session,
    { question: message, answer: text, citations, grounds },
    ctx.now(),
    async (transaction, turnId) => keep?.(transaction, kept(turnId)),
  )
  // While the index lacks pages, a refusal is not certain.
  const isRefused = grounded === 'false' && behind === undefined
  await noteQuestion(ctx, caller, kb, message, { asked: 1, refused: isRefused ? 1 : 0 })
  return kept(turnId)
}

type Asking = {
  message: string
  history: readonly Turn[]
  audience: Audience
  /** Set to `words` to find passages by words alone. */
  by?: 'words'
  /** Maximum passages, if the answerer reads fewer than usual. */
  limit?: number | undefined
}

/** Answers from the pages that an audience sees, and stores nothing. Yields the text as it comes. @throws as {@link chat} */
export async function* answerWithin(
  ctx: Context,
  answerer: Answerer,
  kb: ReadableKb,
  { message, history, audience, by, limit = maxPassages }: Asking,
  signal: AbortSignal,
): AsyncGenerator<string, { said: Answer; passages: Passage[] } & PartialAnswer> {
  const { tone, language, synonyms } = await kb.settings()
  signal.throwIfAborted()
  const query = searchQuestion(message, history, analyserFor(language))
  const retrieve = (query: string) => retrievePassages(ctx, kb, { query, audience, limit, reach: 'section', by })
  const first = await retrieve(query)
  const isForeign = () =>
    first.passages.length === 0 || languageOf(sourceWords(message, language), language) !== primaryLanguage(language)
  const words = answerer.searchWords && isForeign() ? await answerer.searchWords(message, language, signal) : undefined
  const translated = words === undefined ? undefined : await retrieve(words)
  const found = translated === undefined || translated.passages.length === 0 ? first : translated
  const more = introductionQuery(query, found.passages, language)
  const { passages, behind } = more === undefined ? found : await retrieve(more)
  signal.throwIfAborted()
  const answering = answerer.answer({ message, history, passages, tone, audience, language, synonyms }, signal)
  if (behind === undefined) return { said: yield* answering, passages }
  // A page that the index lacks may contain the answer, so a refusal would be wrong and must not be sent first.
  const answer = await wholeAnswer(answering)
  const said = groundedIn(answer) === 'false' ? notReady(language) : answer
  yield said.text
  return { said, passages, behind }
}

async function findSession(ctx: Context, caller: Caller, id: string): Promise<ChatSession> {
  const session = await ctx.chatSessions.find(caller.tenantId, id, ctx.now())
  if (session === undefined || !mayContinue(session, actorOf(caller))) throw new GanglionError('not_found')
  return session
}

/** Returns the cited Neurons. Those that were not retrieved cannot be cited. */
function citationsOf(
  ctx: Context,
  { identity }: ReadableKb,
  passages: readonly Passage[],
  cited: readonly string[],
): ChatCitation[] {
  const bySeqId = new Map(passages.map((passage) => [passage.seqId, passage]))
  return [...new Set(cited)].flatMap((seqId) => {
    const passage = bySeqId.get(seqId)
    if (passage === undefined) return []
    const { documentId, path, title, commit, stale } = passage
    return [
      {
        documentId,
        path,
        filename: fileName(path),
        seqId,
        title,
        url: ctx.urls.neuron(identity.slug, seqId),
        commit,
        ...(stale && { stale }),
      },
    ]
  })
}
