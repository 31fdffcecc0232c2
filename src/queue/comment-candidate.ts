import { v7 as uuidv7 } from 'uuid'
import { CandidateState } from '../contract/candidates.ts'
import type { Context } from '../kb/context.ts'
import { actorOf, type Caller } from '../rules/access/caller.ts'
import { candidateTime } from '../rules/candidates/candidate-id.ts'
import { once } from '../state/once.ts'
import { decide } from './decide-candidate.ts'

/**
 * A curator comments on a candidate, whatever its status, which stays as it is.
 * @throws {GanglionError} `not_found`, `stale_head`, `record_full`, `idempotency_key_reused`
 */
export async function commentCandidate(
  ctx: Context,
  caller: Caller,
  candidateId: string,
  { comment, head }: { comment: string; head?: string | undefined },
  { idempotencyKey }: { idempotencyKey?: string } = {},
): Promise<CandidateState> {
  const request = {
    idempotencyKey,
    route: `POST /api/v1/queue/candidates/${candidateId}/comment`,
    body: { comment, head },
    newId: () => uuidv7({ msecs: ctx.now().getTime() }),
    parse: (answer: unknown) => CandidateState.parse(answer),
  }
  return once(ctx, caller, request, (attempt) => {
    const begun = timeOf(attempt)
    return decide(ctx, caller, { candidateId, head, verb: 'Comment on' }, (_, by, at, { decisions }) => {
      // An attempt that broke off may have written it.
      const isWritten = decisions.some(
        (decision) =>
          idempotencyKey !== undefined &&
          decision.action === 'comment' &&
          decision.reason === comment &&
          decision.by.id === actorOf(caller).id &&
          decision.at >= begun,
      )
      return isWritten ? undefined : { action: 'comment', at, by, reason: comment }
    })
  })
}

/** ISO 8601, of a UUIDv7. */
function timeOf(id: string): string {
  return new Date(candidateTime(id)).toISOString()
}
