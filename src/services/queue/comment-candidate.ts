import type { CandidateState } from '../../contract/candidates.ts'
import type { Caller } from '../caller.ts'
import type { Ganglion } from '../ganglion.ts'
import { decide } from './decide-candidate.ts'

/**
 * A curator comments on a candidate, whatever its status, which stays as it is.
 * @throws {GanglionError} `not_found`, `stale_head`, `record_full`
 */
export async function commentCandidate(
  ganglion: Ganglion,
  caller: Caller,
  candidateId: string,
  { comment, head }: { comment: string; head?: string | undefined },
): Promise<CandidateState> {
  return decide(ganglion, caller, { candidateId, head, verb: 'Comment on' }, (_, by, at) => {
    return { action: 'comment', at, by, reason: comment }
  })
}
