import { z } from 'zod'
import type { AppContext } from '../../app/open-context.ts'
import {
  Approval,
  CandidateComment,
  CandidateDetail,
  CandidateEdit,
  CandidateInput,
  CandidatePage,
  CandidatePath,
  CandidateQuery,
  CandidateReceipt,
  CandidateState,
  Dismissal,
} from '../../contract/candidates.ts'
import type { Role } from '../../contract/vocabulary.ts'
import { approveCandidate } from '../../queue/approve-candidate.ts'
import { commentCandidate } from '../../queue/comment-candidate.ts'
import { dismissCandidate, reopenCandidate } from '../../queue/decide-candidate.ts'
import { listCandidates } from '../../queue/lists/list-candidates.ts'
import { readCandidate } from '../../queue/read-candidate.ts'
import { submitCandidate } from '../../queue/submit-candidate.ts'
import { callerOf } from '../access/auth.ts'
import { IdempotencyHeader, idempotencyOf } from '../request/idempotency.ts'
import { readErrors, writeErrors } from '../response/errors.ts'
import type { ZodFastify } from '../zod-compilers.ts'

const tags = ['Queue']
const writers: readonly Role[] = ['app', 'curator']
const curators: readonly Role[] = ['curator']

const SubmitHeaders = IdempotencyHeader.extend({
  'if-match': z
    .string()
    .describe('The `ETag` of the Neuron that a correction was written from: as `baseCommit` in `metadata`.')
    .exactOptional(),
})

/** Adds the routes of the queue of candidates. */
export function queueRoutes(app: ZodFastify, ctx: AppContext): void {
  app.post(
    '/queue/candidates',
    {
      config: { roles: writers },
      schema: {
        tags,
        operationId: 'submitCandidate',
        summary: 'Submit a candidate',
        headers: SubmitHeaders,
        body: CandidateInput,
        response: {
          201: CandidateReceipt,
          ...writeErrors('insufficient_role', 'merge_conflict', 'idempotency_key_reused', 'queue_full'),
        },
      },
    },
    async (request, reply) => {
      const { headers, body } = request
      const options = { ...idempotencyOf(headers), ifMatch: headers['if-match'] }
      const receipt = await submitCandidate(ctx, callerOf(request), body, options)
      return reply.code(201).send(receipt)
    },
  )

  app.post(
    '/queue/candidates/:id/approve',
    {
      config: { roles: curators },
      schema: {
        tags,
        operationId: 'approveCandidate',
        summary: 'Approve a candidate',
        description:
          'Makes the commit that creates or changes the Neuron. What is approved already gives the same answer again.',
        params: CandidatePath,
        body: CandidateEdit,
        response: {
          200: Approval,
          ...writeErrors(
            'insufficient_role',
            'not_pending',
            'stale_head',
            'merge_conflict',
            'target_not_found',
            'target_unreadable',
          ),
        },
      },
    },
    async (request) => {
      const approval = await approveCandidate(ctx, callerOf(request), request.params.id, request.body)
      return approval
    },
  )

  app.post(
    '/queue/candidates/:id/dismiss',
    {
      config: { roles: curators },
      schema: {
        tags,
        operationId: 'dismissCandidate',
        summary: 'Dismiss a candidate',
        params: CandidatePath,
        body: Dismissal,
        response: {
          200: CandidateState,
          ...writeErrors('insufficient_role', 'not_pending', 'stale_head', 'record_full'),
        },
      },
    },
    async (request) => {
      const state = await dismissCandidate(ctx, callerOf(request), request.params.id, request.body)
      return state
    },
  )

  app.post(
    '/queue/candidates/:id/reopen',
    {
      config: { roles: curators },
      schema: {
        tags,
        operationId: 'reopenCandidate',
        summary: 'Put a dismissed candidate back into the queue',
        params: CandidatePath,
        response: { 200: CandidateState, ...writeErrors('insufficient_role', 'not_dismissed', 'record_full') },
      },
    },
    async (request) => {
      const state = await reopenCandidate(ctx, callerOf(request), request.params.id)
      return state
    },
  )

  app.post(
    '/queue/candidates/:id/comment',
    {
      config: { roles: curators },
      schema: {
        tags,
        operationId: 'commentCandidate',
        summary: 'Comment on a candidate',
        description: 'Whatever its status, which stays as it is.',
        params: CandidatePath,
        headers: IdempotencyHeader,
        body: CandidateComment,
        response: {
          201: CandidateState,
          ...writeErrors('insufficient_role', 'stale_head', 'record_full', 'idempotency_key_reused'),
        },
      },
    },
    async (request, reply) => {
      const { params, body, headers } = request
      const state = await commentCandidate(ctx, callerOf(request), params.id, body, idempotencyOf(headers))
      return reply.code(201).send(state)
    },
  )

  app.get(
    '/queue/candidates',
    {
      config: { roles: curators },
      schema: {
        tags,
        operationId: 'listCandidates',
        summary: 'List candidates, the most urgent first',
        querystring: CandidateQuery,
        response: { 200: CandidatePage, ...readErrors('insufficient_role') },
      },
    },
    (request) => listCandidates(ctx, callerOf(request), request.query),
  )

  app.get(
    '/queue/candidates/:id',
    {
      config: { roles: curators },
      schema: {
        tags,
        operationId: 'readCandidate',
        summary: 'Read a candidate and what it would change',
        params: CandidatePath,
        response: { 200: CandidateDetail, ...readErrors('insufficient_role') },
      },
    },
    (request) => readCandidate(ctx, callerOf(request), request.params.id),
  )
}
