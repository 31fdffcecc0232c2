import type { AppContext } from '../../app/open-context.ts'
import { submitFeedback } from '../../chat/submit-feedback.ts'
import { FeedbackInput, FeedbackReceipt } from '../../contract/chat.ts'
import { KbPath } from '../../contract/search.ts'
import { IdempotencyHeader, idempotencyOf } from '../request/idempotency-header.ts'
import type { ZodFastify } from '../zod-compilers.ts'
import { operationsOf } from './api-operations.ts'

export function feedbackRoutes(app: ZodFastify, ctx: AppContext): void {
  const forWriters = operationsOf(app, ctx, 'Chat', { roles: ['app', 'curator'] })

  forWriters.post('/knowledge-bases/:kbId/reader-feedback', {
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
    answers: {
      201: FeedbackReceipt,
    },
    errors: ['reason_required_for_negative_vote', 'idempotency_key_reused', 'queue_full'],
    run: ({ ctx, caller, params, headers, body }) =>
      submitFeedback(ctx, caller, params.kbId, body, idempotencyOf(headers)),
  })
}
