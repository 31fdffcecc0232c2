import type { CandidatePage, CandidateQuery, CandidateSummary } from '../../contract/candidates.ts'
import type { Context } from '../../kb/context.ts'
import type { CandidateRow } from '../../kb/projection/candidate-index.ts'
import { queuePosition } from '../../kb/projection/candidate-queue.ts'
import type { Caller } from '../../rules/access/caller.ts'
import { decodeQueueCursor, encodeQueueCursor, pageAcross, queuedKbs, unavailableAmong } from './queue-pages.ts'

/**
 * Returns a page of the queue, of one knowledge base or of all that the tenant has: red zone first, then impact, then age.
 * @throws {GanglionError} `not_found`
 * @throws {ValidationError} for an unknown cursor
 */
export async function listCandidates(ctx: Context, caller: Caller, query: CandidateQuery): Promise<CandidatePage> {
  const { kb, cursor, limit, ...filter } = query
  const place = cursor === undefined ? undefined : { after: decodeQueueCursor('cursor', cursor) }
  const kbs = await queuedKbs(ctx, caller, kb)
  const found = await pageAcross(kbs, filter, place, limit + 1)
  const page = found.slice(0, limit)
  const last = page.at(-1)
  const unavailable = unavailableAmong(kbs)
  return {
    candidates: page.map(({ kb: { identity }, row }) => toSummary(ctx, identity.id, row)),
    nextCursor: found.length > limit && last !== undefined ? encodeQueueCursor(queuePosition(last.row)) : null,
    ...(unavailable.length === 0 ? {} : { unavailable }),
  }
}

export function toSummary(ctx: Context, kbId: string, row: CandidateRow): CandidateSummary {
  const { id, impact, approval, removes, kind, title, status, connector, confidence, zone, warnings, target } = row
  return {
    ...{ kind, title, status, connector, confidence, zone, warnings, target },
    createdAt: row.createdAt,
    createdBy: row.createdBy,
    candidateId: id,
    kbId,
    impactEstimate: impact,
    queueUrl: ctx.urls.candidate(id),
    ...(row.assignee === null ? {} : { assignee: row.assignee }),
    ...(row.asked === null || status !== 'pending' ? {} : { changesRequested: row.asked }),
    ...(removes ? { removes } : {}),
    ...(approval === undefined ? {} : { seqId: approval.seqId, commit: approval.commit }),
  }
}
