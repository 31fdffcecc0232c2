import type { FeedbackInput, FeedbackReceipt, VoteInput } from '../contract/chat.ts'
import { GanglionError } from '../contract/errors.ts'
import type { Context } from '../kb/context.ts'
import { replaceCandidate, withdrawReplaceable } from '../queue/replace-candidate.ts'
import type { Caller } from '../rules/access/caller.ts'
import { noteQuestion } from '../search/kb/question-log.ts'
import { readChatTurn, type TurnAddress } from './past-chats.ts'
import { candidateFor } from './submit-feedback.ts'

export type Rating = Pick<VoteInput, 'vote' | 'reason' | 'category' | 'pageUrl' | 'shouldCite'>

/** Maximum characters of a question and of an answer in feedback. */
const maxQuestion = 2000
const maxAnswer = 50_000

/**
 * Submits a reader's rating of an answer to the queue. Another rating of the same answer revises the candidate while it is pending, and
 * `none` withdraws it.
 * @throws {GanglionError} `not_found`, `reason_required_for_negative_vote`, `queue_full`, `not_pending` for `none` if it is approved,
 * and `record_full` if the vote was changed too often
 * @throws {ValidationError} for a Neuron to cite that the caller does not see
 */
export async function rateAnswer(
  ctx: Context,
  caller: Caller,
  { kb: kbName, id, turnId }: TurnAddress,
  { vote, ...rating }: Rating,
): Promise<FeedbackReceipt> {
  const { question, answer, citations, at } = await readChatTurn(ctx, caller, { kb: kbName, id, turnId })
  const kb = await ctx.kb(caller.tenantId, kbName)
  const subject = { kb, name: `turn ${turnId}`, at }
  const receiptOf = ({ candidateId, status }: Pick<FeedbackReceipt, 'candidateId' | 'status'>) => ({
    ...{ candidateId, status },
    queueUrl: ctx.urls.candidate(candidateId),
  })
  if (vote === 'none') return receiptOf(await withdrawReplaceable(ctx, caller, subject))
  if (answer === null) throw new GanglionError('not_found')
  const feedback: FeedbackInput = {
    ...{ ...rating, vote },
    question: firstCharacters(question, maxQuestion),
    answer: firstCharacters(answer, maxAnswer),
    citations: citations.map(({ documentId, path, filename }) => ({ documentId, path, filename })),
    sessionId: id,
    turnId,
  }
  const input = await candidateFor(caller, kb, feedback)
  const { before, ...receipt } = await replaceCandidate(ctx, caller, subject, input)
  const count = () => noteQuestion(ctx, caller, kb, question, { down: 1 })
  if (vote !== 'up' && before?.confidence !== input.confidence) await count().catch(ctx.onError)
  return receiptOf(receipt)
}

/** Cuts a text to `max` characters, counted like JSON Schema. */
function firstCharacters(text: string, max: number): string {
  return text.length <= max ? text : [...text].slice(0, max).join('')
}
