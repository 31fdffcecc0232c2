import type { AppContext } from '../../app/open-context.ts'
import { submitFeedback } from '../../chat/submit-feedback.ts'
import { FeedbackInput, FeedbackReceipt } from '../../contract/chat.ts'
import { KbPath } from '../../contract/search.ts'
import { callerOf } from '../access/auth.ts'
import { IdempotencyHeader, idempotencyOf } from '../request/idempotency-header.ts'
import { writeErrors } from '../response/error-answer.ts'
import type { ZodFastify } from '../zod-compilers.ts'
import { describing } from './describing.ts'

const forWriters = describing('Chat', { roles: ['app', 'curator'] })

export function feedbackRoutes(app: ZodFastify, ctx: AppContext): void {
  app.post(
    '/knowledge-bases/:kbId/reader-feedback',
    forWriters({
      operationId: 'submitFeedback',
      summary: 'Submit feedback on an answer',
      description:
        'Creates a candidate of the kind `reader-feedback` from the vote of a reader. Idempotent with an ' +
        '`Idempotency-Key`. Fails with `reason_required_for_negative_vote` if `vote` is `down` or `flag` and `reason` ' +
        'is blank, with `queue_full` if 10,000 candidates of the knowledge base are pending, and with ' +
        '`idempotency_key_reused` if the key was used for another request.',
      params: KbPath,
      headers: IdempotencyHeader,
      body: FeedbackInput,
      response: {
        201: FeedbackReceipt,
        ...writeErrors(
          'reason_required_for_negative_vote',
          'insufficient_role',
          'idempotency_key_reused',
          'queue_full',
        ),
      },
    }),
    async (request, reply) => {
      const { params, body, headers } = request
      const receipt = await submitFeedback(ctx, callerOf(request), params.kbId, body, idempotencyOf(headers))
      return reply.code(201).send(receipt)
    },
  )
}
