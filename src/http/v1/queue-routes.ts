import type { FastifyReply, FastifyRequest } from 'fastify'
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
  CandidateRevision,
  CandidateState,
  CandidateVersion,
  ChangeRequest,
  Dismissal,
  maxSubmitted,
  RevisionBatch,
  RevisionResults,
  UncheckedBatch,
} from '../../contract/candidates.ts'
import { ErrorAnswer } from '../../contract/envelope.ts'
import { ValidationError } from '../../contract/errors.ts'
import { parseSent } from '../../contract/faults.ts'
import { KbPath } from '../../contract/search.ts'
import { UndoAnswer, UndoInput } from '../../contract/undo.ts'
import {
  approveCandidate,
  assignCandidate,
  commentCandidate,
  dismissCandidate,
  reopenCandidate,
  requestChanges,
} from '../../queue/decide-candidate.ts'
import { listCandidates } from '../../queue/lists/list-candidates.ts'
import { reviseCandidate, withdrawCandidate } from '../../queue/revise-candidate.ts'
import { submitCandidate } from '../../queue/submit-candidate.ts'
import { proposeUndo } from '../../review/propose-undo.ts'
import type { Limits } from '../access/rate-limits.ts'
import { IdempotencyHeader, idempotencyOf } from '../request/idempotency-header.ts'
import { refusalOf } from '../response/error-answer.ts'
import { answerTagged, taggedAnswers } from '../response/etag.ts'
import type { ZodFastify } from '../zod-compilers.ts'
import { operationsOf } from './api-operations.ts'

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
  const forWriters = operationsOf(app, ctx, 'Queue', { roles: ['app', 'curator'] })
  const forBatches = operationsOf(app, ctx, 'Queue', { roles: ['app', 'curator'], jsonKeys: maxSubmitted * 100 })
  const forCurators = operationsOf(app, ctx, 'Queue', { roles: ['curator'] })

  forWriters.post('/queue/candidates', {
    operationId: 'submitCandidate',
    summary: 'Submit a candidate',
    description:
      'Adds a candidate to the queue. If the policy approves it, the response has its `seqId` and `commit`. ' +
      'Idempotent with an `Idempotency-Key`. Fails with `merge_conflict` if the policy approves a correction whose ' +
      'named base version conflicts with `main`, with `queue_full` if 10,000 candidates of the knowledge base are ' +
      'pending, and with `idempotency_key_reused` if the key was used for another request.',
    headers: SubmitHeaders,
    body: CandidateInput,
    answers: {
      201: CandidateReceipt,
    },
    errors: ['merge_conflict', 'idempotency_key_reused', 'queue_full'],
    run: ({ ctx, caller, headers, body }) =>
      submitCandidate(ctx, caller, body, { ...idempotencyOf(headers), ifMatch: headers['if-match'] }),
  })

  forBatches.post('/queue/candidates/batch', {
    operationId: 'submitCandidates',
    summary: 'Submit candidates',
    description:
      'Adds up to 100 candidates to the queue, each for itself: one that is rejected changes nothing for the others. ' +
      'Each counts as a request against the rate limit. Idempotent with an `Idempotency-Key`: a repeated request ' +
      'submits only what was not stored.',
    headers: IdempotencyHeader,
    body: CandidateBatch,
    // Each candidate of the batch is checked separately.
    unchecked: ['body'],
    answers: { 200: CandidateResults },
    run: ({ ctx, caller, headers, ...sent }) => {
      const { idempotencyKey } = idempotencyOf(headers)
      return eachOfBatch(sent, 201, (candidate, index) => {
        const request = { route: 'POST /api/v1/queue/candidates/batch' }
        const options = idempotencyKey === undefined ? {} : { idempotencyKey: `${idempotencyKey} ${index}`, request }
        return submitCandidate(ctx, caller, parseSent(CandidateInput, candidate), options)
      })
    },
  })

  forBatches.put('/queue/candidates/batch', {
    operationId: 'reviseCandidates',
    summary: 'Revise or withdraw candidates',
    description:
      'Makes the next versions of up to 100 pending candidates, or withdraws those with `withdraw`, each for itself, as ' +
      '`PUT` and `DELETE` of one do: one that is rejected changes nothing for the others. `version` is what `If-Match` is ' +
      'there. Each counts as a request against the rate limit. Idempotent.',
    body: RevisionBatch,
    unchecked: ['body'],
    answers: { 200: RevisionResults },
    run: ({ ctx, caller, ...sent }) => {
      const named = new Set<string>()
      return eachOfBatch(sent, 200, (candidate) => {
        const { candidateId, withdraw, content = '', ...version } = parseSent(CandidateRevision, candidate)
        if (named.has(candidateId)) throw new ValidationError({ candidateId: ['is in the batch twice'] })
        named.add(candidateId)
        return withdraw
          ? withdrawCandidate(ctx, caller, candidateId, version)
          : reviseCandidate(ctx, caller, candidateId, { ...version, content })
      })
    },
  })

  /** Runs the parts of a batch side by side and answers each as it would be answered alone. */
  async function eachOfBatch<Candidate>(
    { body, request, reply }: { body: unknown; request: FastifyRequest; reply: FastifyReply },
    status: number,
    run: (candidate: unknown, index: number) => Promise<Candidate>,
  ): Promise<{ results: { status: number; candidate?: Candidate; error?: z.output<typeof ErrorAnswer> }[] }> {
    const { candidates } = parseSent(UncheckedBatch, body ?? {})
    await limits.countRequest(request, reply, 'write', candidates.length - 1)
    const answer = async (sent: unknown, index: number) => {
      try {
        return { status, candidate: await run(sent, index) }
      } catch (error) {
        const { status, body } = refusalOf(error, request)
        return { status, error: ErrorAnswer.parse(body) }
      }
    }
    return { results: await Promise.all(candidates.map(answer)) }
  }

  forWriters.put('/queue/candidates/:id', {
    operationId: 'reviseCandidate',
    summary: 'Revise a candidate',
    description:
      'Makes the next version of a pending candidate, for who sent it, the person of the key that sent it, and curators. Answers a request for ' +
      'changes. Votes for earlier versions no longer count, and a curator decides, whatever the policy says. Idempotent: a version equal ' +
      'to the present one changes nothing. Fails with `not_found` if another caller sent it, with `not_pending` if it is ' +
      'decided, with 400 if its connector or target would change, or if it came by git or from the console, and with ' +
      '`record_full` if its record has reached its limit.',
    params: CandidatePath,
    headers: DecisionHeaders,
    body: CandidateVersion,
    answers: { 200: CandidateReceipt, ...outdated },
    errors: ['not_pending', 'record_full'],
    run: ({ ctx, caller, params, headers, body }) =>
      reviseCandidate(ctx, caller, params.id, { ...body, ifMatch: headers['if-match'] }),
  })

  forWriters.delete('/queue/candidates/:id', {
    operationId: 'withdrawCandidate',
    summary: 'Withdraw a candidate',
    description:
      'Dismisses a pending candidate, for who sent it, the person of the key that sent it, and curators. Idempotent. Fails ' +
      'with `not_found` if another caller sent it, and with `not_pending` if it is approved.',
    params: CandidatePath,
    headers: DecisionHeaders,
    answers: { 200: CandidateState, ...outdated },
    errors: ['not_pending', 'record_full'],
    run: ({ ctx, caller, params, headers }) =>
      withdrawCandidate(ctx, caller, params.id, { ifMatch: headers['if-match'] }),
  })

  forCurators.post('/queue/candidates/:id/approve', {
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
    answers: {
      200: Approval,
      202: AwaitedApproval,
      ...outdated,
    },
    errors: ['not_pending', 'approval_needed', 'stale_head', 'merge_conflict', 'target_not_found', 'target_unreadable'],
    run: async ({ ctx, caller, params, headers, body, reply }) => {
      const approval = await approveCandidate(ctx, caller, params.id, { ...body, ifMatch: headers['if-match'] })
      if (approval.status !== 'approved') reply.code(202)
      return approval
    },
  })

  forCurators.post('/queue/candidates/:id/dismiss', {
    operationId: 'dismissCandidate',
    summary: 'Dismiss a candidate',
    description:
      'Removes a pending candidate from the queue; `main` does not change. Idempotent: dismissing a dismissed ' +
      'candidate returns the same response. Fails with `not_pending` if the candidate is approved, with `stale_head` ' +
      'if it has changed since `head`, and with `record_full` if its record has reached its limit.',
    params: CandidatePath,
    headers: DecisionHeaders,
    body: Dismissal,
    answers: {
      200: CandidateState,
      ...outdated,
    },
    errors: ['not_pending', 'stale_head', 'record_full'],
    run: ({ ctx, caller, params, headers, body }) =>
      dismissCandidate(ctx, caller, params.id, { ...body, ifMatch: headers['if-match'] }),
  })

  forCurators.post('/queue/candidates/:id/reopen', {
    operationId: 'reopenCandidate',
    summary: 'Reopen a dismissed candidate',
    description:
      'Puts a dismissed candidate back into the queue. Not idempotent: fails with `not_dismissed` if the candidate is ' +
      'pending or approved. Fails with `record_full` if its record has reached its limit, and with `queue_full` if ' +
      '10,000 candidates of the knowledge base are pending.',
    params: CandidatePath,
    headers: DecisionHeaders,
    answers: {
      200: CandidateState,
      ...outdated,
    },
    errors: ['not_dismissed', 'record_full', 'queue_full'],
    run: ({ ctx, caller, params, headers }) =>
      reopenCandidate(ctx, caller, params.id, { ifMatch: headers['if-match'] }),
  })

  forCurators.post('/queue/candidates/:id/request-changes', {
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
    answers: {
      200: CandidateState,
      ...outdated,
    },
    errors: ['not_pending', 'stale_head', 'record_full'],
    run: ({ ctx, caller, params, headers, body }) =>
      requestChanges(ctx, caller, params.id, { ...body, ifMatch: headers['if-match'] }),
  })

  forCurators.post('/queue/candidates/:id/assign', {
    operationId: 'assignCandidate',
    summary: 'Assign a candidate',
    description:
      'Records who is to decide on a pending candidate; others may decide all the same. Idempotent. Fails with 400 if ' +
      'there is no such curator, with `not_pending` if the candidate is decided, and with `record_full` if its record ' +
      'has reached its limit.',
    params: CandidatePath,
    body: Assignment,
    answers: { 200: CandidateState },
    errors: ['not_pending', 'record_full'],
    run: ({ ctx, caller, params, body }) => assignCandidate(ctx, caller, params.id, body),
  })

  forCurators.post('/queue/candidates/:id/comment', {
    operationId: 'commentCandidate',
    summary: 'Comment on a candidate',
    description:
      'Adds a comment to the record of a candidate; its status does not change. Idempotent with an `Idempotency-Key`. ' +
      'Fails with `stale_head` if a pending candidate has changed since `head`, with `record_full` if its record has ' +
      'reached its limit, and with `idempotency_key_reused` if the key was used for another request.',
    params: CandidatePath,
    headers: IdempotencyHeader,
    body: CandidateComment,
    answers: {
      201: CandidateState,
    },
    errors: ['stale_head', 'record_full', 'idempotency_key_reused'],
    run: ({ ctx, caller, params, headers, body }) =>
      commentCandidate(ctx, caller, params.id, body, idempotencyOf(headers)),
  })

  forCurators.get('/queue/candidates', {
    operationId: 'listCandidates',
    summary: 'List candidates',
    description:
      'Returns a page of the queue. Fails with `not_found` if `kb` does not exist, and with 400 if no response had ' +
      'this `cursor`.',
    querystring: CandidateQuery,
    answers: { 200: CandidatePage },
    run: ({ ctx, caller, query }) => listCandidates(ctx, caller, query),
  })

  forCurators.get('/queue/candidates/:id', {
    operationId: 'readCandidate',
    summary: 'Read a candidate',
    description:
      'Returns a candidate with its text, its decisions, the diff of its approval, and what that changes in the results ' +
      'of the answer tests. Send the `ETag` as `If-Match` with a decision, which then fails with 412 if the candidate or its ' +
      'target has changed. Fails with `not_found` if it does not exist.',
    params: CandidatePath,
    answers: taggedAnswers(CandidateDetail),
    run: async ({ ctx, caller, params, request, reply }) => {
      const { detail, version } = await readCandidateEffects(ctx, caller, params.id)
      return answerTagged(request, reply, CandidateDetail, detail, version)
    },
  })
}

export function undoRoutes(app: ZodFastify, ctx: AppContext): void {
  const forCurators = operationsOf(app, ctx, 'Queue', { roles: ['curator'] })

  forCurators.post('/knowledge-bases/:kbId/undo', {
    operationId: 'proposeUndo',
    summary: 'Propose to take back what one writer wrote',
    description:
      'Adds a reversal to the queue for each Neuron that one key, person, connector, Source or model has changed on `main` ' +
      'since a time. A curator decides on up to 500 of them as one. What others changed since stays, or conflicts. ' +
      'Idempotent: a reversal that is pending is not proposed again. More than 500 reversals are recorded in parts of ' +
      '500, each an entry of the queue; a request that was interrupted is completed by the same request. Fails with ' +
      '`not_found` if the knowledge base or the Source does not exist, and with `queue_full` if 10,000 candidates of ' +
      'the knowledge base would be pending; if that is so after a part, `message` says how many Neurons are left.',
    params: KbPath,
    body: UndoInput,
    answers: { 200: UndoAnswer },
    errors: ['queue_full'],
    run: ({ ctx, caller, params, body }) => proposeUndo(ctx, caller, params.kbId, body),
  })
}
