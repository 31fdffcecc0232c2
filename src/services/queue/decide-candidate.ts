import type { CandidateState } from '../../contract/candidates.ts'
import { GanglionError } from '../../contract/errors.ts'
import type { Decision } from '../../knowledge/candidate.ts'
import { parseCandidate } from '../../markdown/candidate-file.ts'
import { type CandidateRow, findCandidate } from '../../store/candidate-index.ts'
import { actorOf, type Caller } from '../caller.ts'
import type { Ganglion } from '../ganglion.ts'
import { recordCandidate } from './submit-candidate.ts'

/** A curator dismisses a pending candidate. Again: the same answer. @throws {GanglionError} `not_found`, `not_pending` */
export async function dismissCandidate(
  ganglion: Ganglion,
  caller: Caller,
  candidateId: string,
  { reason }: { reason?: string | undefined },
): Promise<CandidateState> {
  return decide(ganglion, caller, candidateId, 'Dismiss', ({ status }, by, at) => {
    if (status === 'approved') throw new GanglionError('not_pending')
    if (status === 'dismissed') return undefined
    return { action: 'dismiss', at, by, ...(reason === undefined ? {} : { reason }) }
  })
}

/** A curator puts a dismissed candidate back into the queue. @throws {GanglionError} `not_found`, `not_dismissed` */
export async function reopenCandidate(
  ganglion: Ganglion,
  caller: Caller,
  candidateId: string,
): Promise<CandidateState> {
  return decide(ganglion, caller, candidateId, 'Reopen', ({ status }, by, at) => {
    if (status !== 'dismissed') throw new GanglionError('not_dismissed')
    return { action: 'reopen', at, by }
  })
}

/** Adds a decision to a candidate's record, or leaves it as it is where there is none to add. */
async function decide(
  ganglion: Ganglion,
  caller: Caller,
  candidateId: string,
  verb: 'Dismiss' | 'Reopen',
  decisionOn: (row: CandidateRow, by: Decision['by'], at: string) => Decision | undefined,
): Promise<CandidateState> {
  const kb = await ganglion.kbOfCandidate(caller.tenantId, candidateId)
  const by = actorOf(caller)
  return kb.write(async (staging) => {
    const row = findCandidate(kb.projection.write, candidateId)
    if (row === undefined) throw new GanglionError('not_found')
    const decision = decisionOn(row, by, ganglion.now().toISOString())
    if (decision !== undefined) {
      const candidate = parseCandidate(await staging.readText(row.blob))
      await recordCandidate(kb, staging, { ...candidate, decisions: [...candidate.decisions, decision] }, verb)
    }
    return { candidateId, status: findCandidate(kb.projection.write, candidateId)?.status ?? row.status }
  })
}
