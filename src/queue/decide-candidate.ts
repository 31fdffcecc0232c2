import { v7 as uuidv7 } from 'uuid'
import { type Approval, type AwaitedApproval, CandidateState, type ChangeRequest } from '../contract/candidates.ts'
import { GanglionError, ValidationError } from '../contract/errors.ts'
import { curatorNamed } from '../kb/access/who-is.ts'
import { type Context, emitAct } from '../kb/context.ts'
import { kbOfCandidate } from '../kb/kb-access.ts'
import { type CandidateRow, findCandidate, wasApproved } from '../kb/projection/candidate-index.ts'
import { recordCandidate, withDecision } from '../kb/writing/commits.ts'
import type { ApprovalEdit } from '../kb/writing/proposal.ts'
import { parseCandidate } from '../markdown/file/candidate-file.ts'
import { actorOf, type Caller } from '../rules/access/caller.ts'
import { assigneeOf, type Candidate, type Decision, requestedChanges } from '../rules/candidates/candidate.ts'
import { candidateTime } from '../rules/candidates/candidate-id.ts'
import { unixLines } from '../rules/text/line-endings.ts'
import { runIdempotent } from '../state/run-idempotent.ts'
import { approveStaged, editedFields } from './approval.ts'
import { isApprovedBy, type JudgedCandidate, type JudgedHead, writeJudged } from './heads/judged-head.ts'

const actOf = {
  Dismiss: 'dismiss',
  Reopen: 'reopen',
  'Comment on': 'comment',
  'Ask for changes of': 'request-changes',
  Assign: 'assign',
} as const

/**
 * Dismisses a pending candidate as a curator. Repeating it returns the same answer.
 * @throws {GanglionError} `not_found`, `not_pending`, `stale_head` with the present `head`, `record_full`
 */
export async function dismissCandidate(
  ctx: Context,
  caller: Caller,
  candidateId: string,
  { reason, ...judged }: JudgedHead & { reason?: string | undefined },
): Promise<CandidateState> {
  return decide(ctx, caller, { candidateId, ...judged, verb: 'Dismiss' }, ({ status }, by, at) => {
    if (status === 'approved') throw new GanglionError('not_pending')
    if (status === 'dismissed') return undefined
    return { action: 'dismiss', at, by, ...(reason === undefined ? {} : { reason }) }
  })
}

/** Reopens a dismissed candidate as a curator. @throws {GanglionError} `not_found`, `not_dismissed`, `record_full`, `queue_full` */
export async function reopenCandidate(
  ctx: Context,
  caller: Caller,
  candidateId: string,
  judged: Pick<JudgedHead, 'ifMatch'> = {},
): Promise<CandidateState> {
  return decide(ctx, caller, { candidateId, ...judged, verb: 'Reopen' }, ({ status }, by, at) => {
    if (status !== 'dismissed') throw new GanglionError('not_dismissed')
    return { action: 'reopen', at, by }
  })
}

/**
 * Requests changes of a pending candidate as a curator. It stays pending, and a new version answers the request.
 * @throws {GanglionError} `not_found`, `not_pending`, `stale_head` with the present `head`, `record_full`
 * @throws {ValidationError} for lines that the text does not have
 */
export async function requestChanges(
  ctx: Context,
  caller: Caller,
  candidateId: string,
  { reason, lines, ...judged }: JudgedHead & Pick<ChangeRequest, 'reason' | 'lines'>,
): Promise<CandidateState> {
  return decide(ctx, caller, { candidateId, ...judged, verb: 'Ask for changes of' }, ({ status }, by, at, record) => {
    if (status !== 'pending') throw new GanglionError('not_pending')
    if (lines !== undefined) checkLines(lines, record.content)
    const asked = requestedChanges(record)
    const isSame = asked?.by.id === by.id && asked.reason === reason && asked.lines === lines
    return isSame ? undefined : { action: 'request-changes', at, by, reason, ...(lines && { lines }) }
  })
}

function checkLines(lines: string, content: string): void {
  const [from = 0, to = from] = lines.split('-').map(Number)
  const count = unixLines(content).split('\n').length
  if (from > to || to > count) throw new ValidationError({ lines: [`must be lines of the text, which has ${count}`] })
}

/**
 * Assigns a pending candidate to a curator, by e-mail or by the name of their key; null removes the assignment.
 * @throws {GanglionError} `not_found`, `not_pending`, `record_full`
 * @throws {ValidationError} for somebody who may not decide here
 */
export async function assignCandidate(
  ctx: Context,
  caller: Caller,
  candidateId: string,
  { assignee }: { assignee: string | null },
): Promise<CandidateState> {
  const to = assignee === null ? undefined : await curatorNamed(ctx, caller.tenantId, assignee)
  if (to === undefined && assignee !== null) throw new ValidationError({ assignee: ['is no curator here'] })
  return decide(ctx, caller, { candidateId, verb: 'Assign' }, ({ status }, by, at, record) => {
    if (status !== 'pending') throw new GanglionError('not_pending')
    return assigneeOf(record) === to ? undefined : { action: 'assign', at, by, ...(to === undefined ? {} : { to }) }
  })
}

/**
 * Adds a decision to a candidate's record, unless there is none to add.
 * @throws {GanglionError} `not_found`, `stale_head` with the present `head`, `record_full`
 */
export async function decide(
  ctx: Context,
  caller: Caller,
  { candidateId, verb, ...judged }: JudgedHead & Omit<JudgedCandidate, 'decider'> & { verb: keyof typeof actOf },
  decisionOn: (row: CandidateRow, by: Decision['by'], at: string, record: Candidate) => Decision | undefined,
): Promise<CandidateState> {
  const kb = await kbOfCandidate(ctx, caller.tenantId, candidateId)
  const by = actorOf(caller)
  const decider = verb === 'Dismiss' ? by : undefined
  const { isDecided, ...state } = await writeJudged(ctx, kb, { candidateId, decider, ...judged }, async (staging) => {
    const row = findCandidate(kb.projection.write, candidateId)
    if (row === undefined) throw new GanglionError('not_found')
    const record = parseCandidate(await staging.readText(row.blob))
    const decision = decisionOn(row, by, ctx.now().toISOString(), record)
    if (decision !== undefined) await recordCandidate(kb, staging, withDecision(record, decision), verb)
    const { status } = findCandidate(kb.projection.write, candidateId) ?? row
    return { candidateId, status, isDecided: decision !== undefined }
  })
  return isDecided ? emitAct(ctx, actOf[verb], state) : state
}

/**
 * Approves a candidate as a curator: it becomes one commit on main, or waits for the approvals of others. Repeating it returns the same
 * answer. `head`: reviewed commit of the candidate's ref; with `seen` or `ifMatch`, later changes are rejected.
 * @throws {PreconditionFailed}
 * @throws {GanglionError} `not_found`, `not_pending`, `approval_needed`, `target_not_found`, `target_unreadable`, `stale_head` with the
 * present `head`, and `merge_conflict` with `conflicts` and the target's present `commit`; the candidate then stays pending
 */
export async function approveCandidate(
  ctx: Context,
  caller: Caller,
  candidateId: string,
  { head, seen, ifMatch, ...edit }: ApprovalEdit & JudgedHead,
): Promise<Approval | AwaitedApproval> {
  const kb = await kbOfCandidate(ctx, caller.tenantId, candidateId)
  const actor = actorOf(caller)
  const { isAgain, ...approval } = await writeJudged(
    ctx,
    kb,
    { candidateId, decider: actor, head, seen, ifMatch },
    async (staging) => {
      const isAgain = wasApproved(kb.projection.write, candidateId)
      // Repeating an approval is allowed, but not with an edit of a page that others have approved: it would be lost.
      if (isAgain && editedFields(edit).length > 0) {
        const { approval } = findCandidate(kb.projection.write, candidateId) ?? {}
        if (approval !== undefined && !(await isApprovedBy(staging, approval, actor))) {
          throw new GanglionError('not_pending')
        }
      }
      return { isAgain, ...(await approveStaged(kb, staging, candidateId, { edit, by: actor, at: ctx.now() })) }
    },
  )
  if ('awaiting' in approval) return emitAct(ctx, 'approve', { candidateId, status: 'pending', ...approval })
  const answer = { candidateId, status: 'approved' as const, ...approval }
  return isAgain ? answer : emitAct(ctx, 'approve', answer)
}

/**
 * Comments on a candidate as a curator, in any status, which stays as it is.
 * @throws {GanglionError} `not_found`, `stale_head`, `record_full`, `idempotency_key_reused`
 */
export async function commentCandidate(
  ctx: Context,
  caller: Caller,
  candidateId: string,
  { comment, head }: { comment: string; head?: string | undefined },
  { idempotencyKey }: { idempotencyKey?: string } = {},
): Promise<CandidateState> {
  const { id: author } = actorOf(caller)
  const isWritten = ({ decisions }: Candidate, attempt: string) =>
    decisions.some(
      ({ action, reason, at, by }) =>
        action === 'comment' && reason === comment && by.id === author && at >= timeOf(attempt),
    )
  const request = {
    idempotencyKey,
    route: `POST /api/v1/queue/candidates/${candidateId}/comment`,
    body: { comment, head },
    newId: () => uuidv7({ msecs: ctx.now().getTime() }),
    parse: (answer: unknown) => CandidateState.parse(answer),
    committed: async (attempt: string) => {
      const kb = await kbOfCandidate(ctx, caller.tenantId, candidateId)
      const row = findCandidate(kb.projection.read, candidateId)
      const record = row && parseCandidate(await kb.repository.readText(row.blob))
      return row && record && isWritten(record, attempt) ? { candidateId, status: row.status } : undefined
    },
  }
  return runIdempotent(ctx, caller, request, (attempt) =>
    decide(ctx, caller, { candidateId, head, verb: 'Comment on' }, (_, by, at, record) =>
      // An attempt on another node may have written it since.
      idempotencyKey !== undefined && isWritten(record, attempt)
        ? undefined
        : { action: 'comment', at, by, reason: comment },
    ),
  )
}

/** Returns the time of a UUIDv7, ISO 8601. */
function timeOf(id: string): string {
  return new Date(candidateTime(id)).toISOString()
}
