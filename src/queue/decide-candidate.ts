import type { CandidateState } from '../contract/candidates.ts'
import { GanglionError } from '../contract/errors.ts'
import { type Context, emitAct } from '../kb/context.ts'
import { kbOfCandidate } from '../kb/kb-access.ts'
import { type CandidateRow, findCandidate } from '../kb/projection/candidate-index.ts'
import { recordCandidate, withDecision } from '../kb/writing/record.ts'
import { parseCandidate } from '../markdown/file/candidate-file.ts'
import { actorOf, type Caller } from '../rules/access/caller.ts'
import type { Candidate, Decision } from '../rules/candidates/candidate.ts'
import { type JudgedHead, writeJudged } from './heads/judged-head.ts'

const actOf = { Dismiss: 'dismiss', Reopen: 'reopen', 'Comment on': 'comment' } as const

/**
 * A curator dismisses a pending candidate. Again: the same answer.
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

/** A curator puts a dismissed candidate back into the queue. @throws {GanglionError} `not_found`, `not_dismissed`, `record_full` */
export async function reopenCandidate(ctx: Context, caller: Caller, candidateId: string): Promise<CandidateState> {
  return decide(ctx, caller, { candidateId, verb: 'Reopen' }, ({ status }, by, at) => {
    if (status !== 'dismissed') throw new GanglionError('not_dismissed')
    return { action: 'reopen', at, by }
  })
}

/**
 * Adds a decision to a candidate's record, or leaves it as it is where there is none to add.
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
  const state = await writeJudged(ctx, kb, { candidateId, ...judged }, async (staging) => {
    const row = findCandidate(kb.projection.write, candidateId)
    if (row === undefined) throw new GanglionError('not_found')
    const record = parseCandidate(await staging.readText(row.blob))
    const decision = decisionOn(row, by, ctx.now().toISOString(), record)
    if (decision !== undefined) await recordCandidate(kb, staging, withDecision(record, decision), verb)
    return { candidateId, status: findCandidate(kb.projection.write, candidateId)?.status ?? row.status }
  })
  return emitAct(ctx, actOf[verb], state)
}
