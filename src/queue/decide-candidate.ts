import type { CandidateState } from '../contract/candidates.ts'
import { GanglionError, ValidationError } from '../contract/errors.ts'
import { curatorNamed } from '../kb/access/who-is.ts'
import { type Context, emitAct } from '../kb/context.ts'
import { kbOfCandidate } from '../kb/kb-access.ts'
import { type CandidateRow, findCandidate } from '../kb/projection/candidate-index.ts'
import { recordCandidate, withDecision } from '../kb/writing/record.ts'
import { parseCandidate } from '../markdown/file/candidate-file.ts'
import { actorOf, type Caller } from '../rules/access/caller.ts'
import { assigneeOf, type Candidate, type Decision, requestedChanges } from '../rules/candidates/candidate.ts'
import { type JudgedHead, writeJudged } from './heads/judged-head.ts'

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
 */
export async function requestChanges(
  ctx: Context,
  caller: Caller,
  candidateId: string,
  { reason, ...judged }: JudgedHead & { reason: string },
): Promise<CandidateState> {
  return decide(ctx, caller, { candidateId, ...judged, verb: 'Ask for changes of' }, ({ status }, by, at, record) => {
    if (status !== 'pending') throw new GanglionError('not_pending')
    const asked = requestedChanges(record)
    return asked?.by.id === by.id && asked.reason === reason ? undefined : { action: 'request-changes', at, by, reason }
  })
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
  { candidateId, verb, ...judged }: JudgedHead & { candidateId: string; verb: keyof typeof actOf },
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
