import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { AppContext } from '../../app/open-context.ts'
import { chatOnce } from '../../chat/answer-question.ts'
import { rateAnswer } from '../../chat/rate-answer.ts'
import { submitFeedback } from '../../chat/submit-feedback.ts'
import { ChatAnswer, ChatInput, type ChatQuestion, FeedbackReceipt, VoteInput } from '../../contract/chat.ts'
import { undefinedOn, ValidationError } from '../../contract/errors.ts'
import { KbPath } from '../../contract/search.ts'
import { previewing } from '../../queue/preview/previewed-kb.ts'
import { callerOf } from '../access/auth.ts'
import { IdempotencyHeader, idempotencyOf } from '../request/idempotency-header.ts'
import { EventStreams } from '../response/event-stream.ts'
import type { ZodFastify } from '../zod-compilers.ts'
import { operationsOf } from './api-operations.ts'

const ChatEvents = z
  .string()
  .meta({ examples: ['event: delta\ndata: {"text":"The lead is paged."}\n\n'] })
  .describe(
    'Events `delta` with `{"text": "…"}`, then one `done` with the JSON response. If the answer fails, one `error` with the body of ' +
      'the error.',
  )

export function chatRoutes(app: ZodFastify, ctx: AppContext): void {
  const forChat = operationsOf(app, ctx, 'Chat', { rate: 'chat' })

  const answer = chatAnswers(app, ctx)
  forChat.post('/chat', {
    operationId: 'chat',
    summary: 'Ask a question',
    description:
      'Answers a question from a knowledge base and cites the Neurons. The response is JSON, or a stream of events if ' +
      '`Accept` prefers `text/event-stream`. The turn is added to a session, which expires 30 days after its last ' +
      'turn. Idempotent with an `Idempotency-Key`. A stream then has the whole answer in one event. Fails with ' +
      '`not_found` if the session belongs to another caller, knowledge base or audience, and with ' +
      '`idempotency_key_reused` if the key was used for another request.',
    headers: IdempotencyHeader,
    body: ChatInput,
    answers: {
      200: {
        description: 'The answer.',
        content: { 'application/json': { schema: ChatAnswer }, 'text/event-stream': { schema: ChatEvents } },
      },
    },
    errors: ['idempotency_key_reused', 'not_pending'],
    run: async ({ headers, body, request, reply }) =>
      (await answer(request, reply, body, idempotencyOf(headers))) ?? reply,
  })
}

/** Returns a function that answers a question as JSON, or as a stream. */
export function chatAnswers(app: ZodFastify, ctx: AppContext) {
  const streams = new EventStreams(app)
  return async (
    request: FastifyRequest,
    reply: FastifyReply,
    question: ChatQuestion,
    options?: { idempotencyKey?: string },
  ): Promise<ChatAnswer | undefined> => {
    const [caller, { preview, knowledgeBaseId }] = [callerOf(request), question]
    const shown = await previewing(ctx, caller, preview, knowledgeBaseId)
    const answer = await streams.answerText(
      request,
      reply,
      (signal) => chatOnce(shown.ctx, ctx.answerer, caller, question, signal, options),
      (streamed) => ChatAnswer.parse(shown.told(streamed)),
    )
    return answer && shown.told(answer)
  }
}

export function feedbackRoutes(app: ZodFastify, ctx: AppContext): void {
  const forWriters = operationsOf(app, ctx, 'Chat', { roles: ['app', 'curator'] })

  forWriters.post('/knowledge-bases/:kbId/reader-feedback', {
    operationId: 'submitFeedback',
    summary: 'Submit feedback on an answer',
    description:
      'Creates a candidate of the kind `reader-feedback` from the vote of a reader. Idempotent with an ' +
      '`Idempotency-Key`. Fails with `reason_required_for_negative_vote` if `vote` is `down` or `flag` and `reason` ' +
      'is blank, with `not_pending` if a vote to withdraw is approved, with `record_full` if a vote was replaced too ' +
      'often, with `queue_full` if 10,000 candidates of the knowledge base are pending, and with ' +
      '`idempotency_key_reused` if the key was used for another request.',
    params: KbPath,
    headers: IdempotencyHeader,
    body: VoteInput,
    answers: {
      201: FeedbackReceipt,
    },
    errors: ['reason_required_for_negative_vote', 'idempotency_key_reused', 'queue_full', 'not_pending', 'record_full'],
    async run({ ctx, caller, params: { kbId: kb }, headers, body: { vote, replaces, ...feedback } }) {
      const { sessionId: id, turnId } = feedback
      const isKept = replaces === true && id !== undefined && turnId !== undefined
      if (vote === 'none') {
        if (!isKept)
          throw new ValidationError({ vote: ['must come with `replaces`, `sessionId` and `turnId` to be none'] })
        return rateAnswer(ctx, caller, { kb, id, turnId }, { vote })
      }
      // A turn of somebody else's chat is no reason to lose the vote.
      const rated =
        isKept && rateAnswer(ctx, caller, { kb, id, turnId }, { ...feedback, vote }).catch(undefinedOn('not_found'))
      return (await rated) || submitFeedback(ctx, caller, kb, { ...feedback, vote }, idempotencyOf(headers))
    },
  })
}
