import type { AppContext } from '../../app/open-context.ts'
import { submitFeedback } from '../../chat/submit-feedback.ts'
import { FeedbackInput, FeedbackReceipt } from '../../contract/chat.ts'
import { KbPath } from '../../contract/search.ts'
import { callerOf } from '../access/auth.ts'
import { IdempotencyHeader, idempotencyOf } from '../request/idempotency.ts'
import { writeErrors } from '../response/errors.ts'
import type { ZodFastify } from '../zod-compilers.ts'

/** Adds the route that takes what readers think of an answer. */
export function feedbackRoutes(app: ZodFastify, ctx: AppContext): void {
  app.post(
    '/knowledge-bases/:kbId/reader-feedback',
    {
      config: { roles: ['app', 'curator'] },
      schema: {
        tags: ['Chat'],
        operationId: 'submitFeedback',
        summary: 'Tell what a reader thinks of an answer',
        description: 'Becomes a candidate of the kind `reader-feedback`.',
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
      },
    },
    async (request, reply) => {
      const { params, body, headers } = request
      const receipt = await submitFeedback(ctx, callerOf(request), params.kbId, body, idempotencyOf(headers))
      return reply.code(201).send(receipt)
    },
  )
}
