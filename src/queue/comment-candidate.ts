import { v7 as uuidv7 } from 'uuid'
import { CandidateState } from '../contract/candidates.ts'
import type { Context } from '../kb/context.ts'
import { kbOfCandidate } from '../kb/kb-access.ts'
import { findCandidate } from '../kb/projection/candidate-index.ts'
import { parseCandidate } from '../markdown/file/candidate-file.ts'
import { actorOf, type Caller } from '../rules/access/caller.ts'
import type { Candidate } from '../rules/candidates/candidate.ts'
import { candidateTime } from '../rules/candidates/candidate-id.ts'
import { runIdempotent } from '../state/run-idempotent.ts'
import { decide } from './decide-candidate.ts'

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
