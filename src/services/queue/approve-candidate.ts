import { actorOf, type Caller } from '../caller.ts'
import type { Ganglion } from '../ganglion.ts'
import { type Approval, type ApprovalEdit, approveStaged } from './approval.ts'

/**
 * A curator approves a candidate: it becomes one commit on main. Approving again gives the same answer.
 * @throws {GanglionError} `not_found`, `not_pending`, `target_not_found`, `target_unreadable`, and `merge_conflict` with `conflicts` and the
 *   target's present `commit`; the candidate then stays pending.
 */
export async function approveCandidate(
  ganglion: Ganglion,
  caller: Caller,
  candidateId: string,
  edit: ApprovalEdit,
): Promise<Approval & { candidateId: string; status: 'approved' }> {
  const kb = await ganglion.kbOfCandidate(caller.tenantId, candidateId)
  const actor = actorOf(caller)
  const approval = await kb.write((staging) => approveStaged(kb, staging, candidateId, edit, actor, ganglion.now()))
  return { candidateId, status: 'approved', ...approval }
}
