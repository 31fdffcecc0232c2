import { z } from 'zod'
import { readCandidateEffects } from '../../answer-tests/read-effects.ts'
import type { AppContext } from '../../app/open-context.ts'
import {
  Approval,
  Assignment,
  AwaitedApproval,
  CandidateBatch,
  CandidateComment,
  CandidateDetail,
  CandidateEdit,
  CandidateInput,
  CandidatePage,
  CandidatePath,
  CandidateQuery,
  CandidateReceipt,
  CandidateResults,
  CandidateState,
  ChangeRequest,
  Dismissal,
  maxSubmitted,
  UncheckedBatch,
} from '../../contract/candidates.ts'
import { ErrorAnswer } from '../../contract/envelope.ts'
import { parseSent } from '../../contract/faults.ts'
import { approveCandidate } from '../../queue/approve-candidate.ts'
import { commentCandidate } from '../../queue/comment-candidate.ts'
import { assignCandidate, dismissCandidate, reopenCandidate, requestChanges } from '../../queue/decide-candidate.ts'
import { listCandidates } from '../../queue/lists/list-candidates.ts'
import { submitCandidate } from '../../queue/submit-candidate.ts'
import { callerOf } from '../access/auth.ts'
import type { Limits } from '../access/rate-limits.ts'
import { IdempotencyHeader, idempotencyOf } from '../request/idempotency-header.ts'
import { readErrors, refusalOf, writeErrors } from '../response/error-answer.ts'
import { answerTagged, taggedAnswers } from '../response/etag.ts'
import { validatorCompiler, type ZodFastify } from '../zod-compilers.ts'
import { describing } from './describing.ts'

const forWriters = describing('Queue', { roles: ['app', 'curator'] })
const forBatches = describing('Queue', { roles: ['app', 'curator'], jsonKeys: maxSubmitted * 100 })
const forCurators = describing('Queue', { roles: ['curator'] })

const SubmitHeaders = IdempotencyHeader.extend({
  'if-match': z
    .string()
    .describe('`ETag` of the Neuron that a correction is based on. Same as `baseCommit` in `metadata`.')
    .exactOptional(),
})

const DecisionHeaders = z.object({
  'if-match': z
    .string()
    .describe('`ETag` of the candidate as it was read. 412 if it has changed since, or its target, or it was decided.')
    .exactOptional(),
})
const outdated = {
  412: ErrorAnswer.describe(
    '`If-Match` does not hold. `stale_head`: the candidate or its target has changed. `not_pending`: the candidate was decided.',
  ),
}

export function queueRoutes(app: ZodFastify, ctx: AppContext, limits: Limits): void {
  app.post(
    '/queue/candidates',
    forWriters({
      operationId: 'submitCandidate',
      summary: 'Submit a candidate',
      description:
        'Adds a candidate to the queue. If the policy approves it, the response has its `seqId` and `commit`. ' +
        'Idempotent with an `Idempotency-Key`. Fails with `merge_conflict` if the policy approves a correction whose ' +
        'named base version conflicts with `main`, with `queue_full` if 10,000 candidates of the knowledge base are ' +
        'pending, and with `idempotency_key_reused` if the key was used for another request.',
      headers: SubmitHeaders,
      body: CandidateInput,
      response: {
        201: CandidateReceipt,
        ...writeErrors('insufficient_role', 'merge_conflict', 'idempotency_key_reused', 'queue_full'),
      },
    }),
    async (request, reply) => {
      const { headers, body } = request
      const options = { ...idempotencyOf(headers), ifMatch: headers['if-match'] }
      const receipt = await submitCandidate(ctx, callerOf(request), body, options)
      return reply.code(201).send(receipt)
    },
  )

  app.post(
    '/queue/candidates/batch',
    {
      // Each candidate is checked on its own.
      validatorCompiler: ({ schema, ...route }) =>
        validatorCompiler({
          ...route,
          schema: route.httpPart !== 'body' && schema instanceof z.ZodType ? schema : UncheckedBatch,
        }),
      ...forBatches({
        operationId: 'submitCandidates',
        summary: 'Submit candidates',
        description:
          'Adds up to 100 candidates to the queue, each for itself: one that is rejected changes nothing for the others. ' +
          'Each counts as a request against the rate limit. Idempotent with an `Idempotency-Key`: a repeated request ' +
          'submits only what was not stored.',
        headers: IdempotencyHeader,
        body: CandidateBatch,
        response: { 200: CandidateResults, ...writeErrors('insufficient_role') },
      }),
    },
    async (request, reply) => {
      const caller = callerOf(request)
      const { candidates } = UncheckedBatch.parse(request.body)
      await limits.countRequest(request, reply, 'write', candidates.length - 1)
      const { idempotencyKey } = idempotencyOf(request.headers)
      const submit = async (sent: unknown, index: number): Promise<CandidateResults['results'][number]> => {
        try {
          const body = parseSent(CandidateInput, sent)
          const request = { route: 'POST /api/v1/queue/candidates/batch' }
          const options = idempotencyKey === undefined ? {} : { idempotencyKey: `${idempotencyKey} ${index}`, request }
          return { status: 201, candidate: await submitCandidate(ctx, caller, body, options) }
        } catch (error) {
          const { status, body } = refusalOf(error, request)
          return { status, error: ErrorAnswer.parse(body) }
        }
      }
      return { results: await Promise.all(candidates.map(submit)) }
    },
  )

  app.post(
    '/queue/candidates/:id/approve',
    forCurators({
      operationId: 'approveCandidate',
      summary: 'Approve a candidate',
      description:
        'Creates one commit on `main` that creates, changes or deletes the Neuron. Where `kb.yaml` asks for more ' +
        'approvals, records this one and returns 202 with what is missing. Idempotent: approving an approved ' +
        'candidate returns the same response. Fails with `approval_needed` if the approval does not count, since the ' +
        'caller wrote the candidate or edits it; fails with `not_pending` if the candidate is dismissed, with `stale_head` ' +
        'if it has changed since `head`, with `merge_conflict` if it conflicts with `main`, with `target_not_found` if ' +
        'its target does not exist, and with `target_unreadable` if the front matter of the target cannot be parsed. ' +
        'The candidate then stays as it is.',
      params: CandidatePath,
      headers: DecisionHeaders,
      body: CandidateEdit,
      response: {
        200: Approval,
        202: AwaitedApproval,
        ...outdated,
        ...writeErrors(
          'insufficient_role',
          'not_pending',
          'approval_needed',
          'stale_head',
          'merge_conflict',
          'target_not_found',
          'target_unreadable',
        ),
      },
    }),
    async (request, reply) => {
      const approval = await approveCandidate(ctx, callerOf(request), request.params.id, judgedIn(request))
      return approval.status === 'approved' ? approval : reply.code(202).send(approval)
    },
  )

  app.post(
    '/queue/candidates/:id/dismiss',
    forCurators({
      operationId: 'dismissCandidate',
      summary: 'Dismiss a candidate',
      description:
        'Removes a pending candidate from the queue; `main` does not change. Idempotent: dismissing a dismissed ' +
        'candidate returns the same response. Fails with `not_pending` if the candidate is approved, with `stale_head` ' +
        'if it has changed since `head`, and with `record_full` if its record has reached its limit.',
      params: CandidatePath,
      headers: DecisionHeaders,
      body: Dismissal,
      response: {
        200: CandidateState,
        ...outdated,
        ...writeErrors('insufficient_role', 'not_pending', 'stale_head', 'record_full'),
      },
    }),
    async (request) => {
      const state = await dismissCandidate(ctx, callerOf(request), request.params.id, judgedIn(request))
      return state
    },
  )

  app.post(
    '/queue/candidates/:id/reopen',
    forCurators({
      operationId: 'reopenCandidate',
      summary: 'Reopen a dismissed candidate',
      description:
        'Puts a dismissed candidate back into the queue. Not idempotent: fails with `not_dismissed` if the candidate is ' +
        'pending or approved. Fails with `record_full` if its record has reached its limit, and with `queue_full` if ' +
        '10,000 candidates of the knowledge base are pending.',
      params: CandidatePath,
      headers: DecisionHeaders,
      response: {
        200: CandidateState,
        ...outdated,
        ...writeErrors('insufficient_role', 'not_dismissed', 'record_full', 'queue_full'),
      },
    }),
    async (request) => {
      const state = await reopenCandidate(ctx, callerOf(request), request.params.id, {
        ifMatch: request.headers['if-match'],
      })
      return state
    },
  )

  app.post(
    '/queue/candidates/:id/request-changes',
    forCurators({
      operationId: 'requestChanges',
      summary: 'Request changes of a candidate',
      description:
        'Records what has to change. The candidate stays pending, and its sender reads it at `GET /me/candidates`; a new version answers the ' +
        'request. Takes back an approval of the caller that waits for others. Idempotent: the same request of the ' +
        'caller is recorded once. Fails with `not_pending` if the candidate is decided, with `stale_head` if it has ' +
        'changed since `head`, and with `record_full` if its record has reached its limit.',
      params: CandidatePath,
      headers: DecisionHeaders,
      body: ChangeRequest,
      response: {
        200: CandidateState,
        ...outdated,
        ...writeErrors('insufficient_role', 'not_pending', 'stale_head', 'record_full'),
      },
    }),
    (request) => requestChanges(ctx, callerOf(request), request.params.id, judgedIn(request)),
  )

  app.post(
    '/queue/candidates/:id/assign',
    forCurators({
      operationId: 'assignCandidate',
      summary: 'Assign a candidate',
      description:
        'Records who is to decide on a pending candidate; others may decide all the same. Idempotent. Fails with 400 if ' +
        'there is no such curator, with `not_pending` if the candidate is decided, and with `record_full` if its record ' +
        'has reached its limit.',
      params: CandidatePath,
      body: Assignment,
      response: { 200: CandidateState, ...writeErrors('insufficient_role', 'not_pending', 'record_full') },
    }),
    (request) => assignCandidate(ctx, callerOf(request), request.params.id, request.body),
  )

  app.post(
    '/queue/candidates/:id/comment',
    forCurators({
      operationId: 'commentCandidate',
      summary: 'Comment on a candidate',
      description:
        'Adds a comment to the record of a candidate; its status does not change. Idempotent with an `Idempotency-Key`. ' +
        'Fails with `stale_head` if a pending candidate has changed since `head`, with `record_full` if its record has ' +
        'reached its limit, and with `idempotency_key_reused` if the key was used for another request.',
      params: CandidatePath,
      headers: IdempotencyHeader,
      body: CandidateComment,
      response: {
        201: CandidateState,
        ...writeErrors('insufficient_role', 'stale_head', 'record_full', 'idempotency_key_reused'),
      },
    }),
    async (request, reply) => {
      const { params, body, headers } = request
      const state = await commentCandidate(ctx, callerOf(request), params.id, body, idempotencyOf(headers))
      return reply.code(201).send(state)
    },
  )

  app.get(
    '/queue/candidates',
    forCurators({
      operationId: 'listCandidates',
      summary: 'List candidates',
      description:
        'Returns a page of the queue. Fails with `not_found` if `kb` does not exist, and with 400 if no response had ' +
        'this `cursor`.',
      querystring: CandidateQuery,
      response: { 200: CandidatePage, ...readErrors('insufficient_role') },
    }),
    (request) => listCandidates(ctx, callerOf(request), request.query),
  )

  app.get(
    '/queue/candidates/:id',
    forCurators({
      operationId: 'readCandidate',
      summary: 'Read a candidate',
      description:
        'Returns a candidate with its text, its decisions, the diff of its approval, and what that changes in the results ' +
        'of the answer tests. Send the `ETag` as `If-Match` with a decision, which then fails with 412 if the candidate or its ' +
        'target has changed. Fails with `not_found` if it does not exist.',
      params: CandidatePath,
      response: { ...taggedAnswers(CandidateDetail), ...readErrors('insufficient_role') },
    }),
    async (request, reply) => {
      const { detail, version } = await readCandidateEffects(ctx, callerOf(request), request.params.id)
      return answerTagged(request, reply, CandidateDetail, detail, version)
    },
  )
}

function judgedIn<Body extends object>({
  headers,
  body,
}: {
  headers: z.output<typeof DecisionHeaders>
  body: Body
}): Body & { ifMatch: string | undefined } {
  return { ...body, ifMatch: headers['if-match'] }
}
