import type { FeedbackInput, FeedbackReceipt } from '../contract/chat.ts'
import { GanglionError } from '../contract/errors.ts'
import type { Context } from '../kb/context.ts'
import type { Caller } from '../rules/access/caller.ts'
import { noteQuestion } from '../search/kb/question-log.ts'
import { readChatTurn, type TurnAddress } from './past-chats.ts'
import { submitFeedback } from './submit-feedback.ts'

export type Rating = Pick<FeedbackInput, 'vote' | 'reason' | 'category' | 'pageUrl' | 'shouldCite'>

/** Maximum characters of a question and of an answer in feedback. */
const maxQuestion = 2000
const maxAnswer = 50_000

/**
 * Submits a rating of an answer to the queue, once for each kind of vote. A rating that names a Neuron to cite is submitted once
 * for each `form` sent, so that another Neuron can be named later.
 * @throws {GanglionError} `not_found`, `reason_required_for_negative_vote`, `queue_full`, and `idempotency_key_reused` for
 * another reason than before
 * @throws {ValidationError} as {@link submitFeedback}
 */
export async function rateAnswer(
  ctx: Context,
  caller: Caller,
  { kb, id, turnId }: TurnAddress,
  rating: Rating,
  { form }: { form?: string | undefined } = {},
): Promise<FeedbackReceipt> {
  const { question, answer, citations } = await readChatTurn(ctx, caller, { kb, id, turnId })
  if (answer === null) throw new GanglionError('not_found')
  const feedback = {
    ...rating,
    question: firstCharacters(question, maxQuestion),
    answer: firstCharacters(answer, maxAnswer),
    citations: citations.map(({ documentId, path, filename }) => ({ documentId, path, filename })),
    sessionId: id,
    turnId,
  }
  const receipt = await submitFeedback(ctx, caller, kb, feedback, {
    idempotencyKey: `turn:${turnId}:${rating.vote}${rating.shouldCite && form ? `:${form}` : ''}`,
  })
  const count = async () => noteQuestion(ctx, caller, await ctx.readableKb(caller.tenantId, kb), question, { down: 1 })
  if (rating.vote !== 'up') await count().catch(ctx.onError)
  return receipt
}

/** Cuts a text to `max` characters, counted like JSON Schema. */
function firstCharacters(text: string, max: number): string {
  return text.length <= max ? text : [...text].slice(0, max).join('')
}
