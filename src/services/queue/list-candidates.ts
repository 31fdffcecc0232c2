import { z } from 'zod'
import type { CandidatePage, CandidateQuery, CandidateSummary } from '../../contract/candidates.ts'
import { ValidationError } from '../../contract/errors.ts'
import type { CandidateRow } from '../../store/candidate-index.ts'
import { byPosition, type QueuePosition, queuePage, queuePosition } from '../../store/candidate-queue.ts'
import type { Caller } from '../caller.ts'
import type { Ganglion } from '../ganglion.ts'

const Position = z.tuple([z.int(), z.int(), z.string()])

/**
 * A page of the queue, of one knowledge base or of all that the tenant has: red zone first, then impact, then age.
 * @throws {GanglionError} `not_found` @throws {ValidationError} for a cursor that no page gave.
 */
export async function listCandidates(
  ganglion: Ganglion,
  caller: Caller,
  query: CandidateQuery,
): Promise<CandidatePage> {
  const { kb, cursor, limit, ...filter } = query
  const place = cursor === undefined ? undefined : { after: decodeCursor(cursor) }
  const kbs =
    kb === undefined
      ? await Promise.all(
          (await ganglion.knowledgeBases.list(caller.tenantId)).map((identity) => ganglion.openKb(identity)),
        )
      : [await ganglion.kb(caller.tenantId, kb)]
  const found = kbs
    .flatMap(({ identity, projection }) =>
      queuePage(projection.read, filter, place, limit + 1).map((row) => ({ kbId: identity.id, row })),
    )
    .sort((a, b) => byPosition(queuePosition(a.row), queuePosition(b.row)))
  const page = found.slice(0, limit)
  const last = page.at(-1)
  return {
    candidates: page.map(({ kbId, row }) => toSummary(ganglion, kbId, row)),
    nextCursor: found.length > limit && last !== undefined ? encodeCursor(queuePosition(last.row)) : null,
  }
}

export function toSummary(ganglion: Ganglion, kbId: string, row: CandidateRow): CandidateSummary {
  const { id, impact, approval, removes, kind, title, status, connector, confidence, zone, warnings, target } = row
  return {
    ...{ kind, title, status, connector, confidence, zone, warnings, target },
    createdAt: row.createdAt,
    createdBy: row.createdBy,
    candidateId: id,
    kbId,
    impactEstimate: impact,
    queueUrl: ganglion.queueUrl(id),
    ...(removes ? { removes } : {}),
    ...(approval === undefined ? {} : { seqId: approval.seqId, commit: approval.commit }),
  }
}

function encodeCursor({ red, impact, id }: QueuePosition): string {
  return Buffer.from(JSON.stringify([red, impact, id])).toString('base64url')
}

function decodeCursor(cursor: string): QueuePosition {
  try {
    const [red, impact, id] = Position.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')))
    return { red, impact, id }
  } catch {
    throw new ValidationError({ cursor: ['must be the nextCursor of an earlier answer'] })
  }
}
