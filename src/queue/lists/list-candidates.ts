import type {
  CandidatePage,
  CandidateQuery,
  CandidateSummary,
  SentCandidate,
  SentCandidatePage,
  SentCandidateQuery,
} from '../../contract/candidates.ts'
import { decodeCursor, encodeCursor } from '../../contract/envelope.ts'
import { GanglionError } from '../../contract/errors.ts'
import { type KbView, viewFor } from '../../kb/access/kb-view.ts'
import { sendersFor } from '../../kb/access/who-is.ts'
import type { Context } from '../../kb/context.ts'
import type { CandidateRow } from '../../kb/projection/candidate-index.ts'
import { isSender, queuePosition, sentBy } from '../../kb/projection/candidate-queue.ts'
import type { AllTables } from '../../kb/projection/projection.ts'
import { parseCandidate } from '../../markdown/file/candidate-file.ts'
import type { Caller } from '../../rules/access/caller.ts'
import { isUuid } from '../../rules/candidates/candidate-id.ts'
import { unixLines } from '../../rules/text/line-endings.ts'
import { findQueued } from '../describe-candidate.ts'
import {
  decodeQueueCursor,
  encodeQueueCursor,
  pageAcross,
  type QueuedRow,
  queuedKbs,
  unavailableAmong,
} from './queue-pages.ts'

/**
 * Returns a page of the queue, of one knowledge base or of all that the tenant has: red zone first, then impact, then age.
 * @throws {GanglionError} `not_found`
 * @throws {ValidationError} for an unknown cursor
 */
export async function listCandidates(ctx: Context, caller: Caller, query: CandidateQuery): Promise<CandidatePage> {
  const { kb, for: whose, cursor, limit, ...filter } = query
  const place = cursor === undefined ? undefined : { after: decodeQueueCursor('cursor', cursor) }
  const kbs = await queuedKbs(ctx, caller, kb, whose)
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
  const { id, impact, approval, removes, kind, title, version, status, connector, confidence, zone, warnings, target } =
    row
  return {
    ...{ kind, title, version, status, connector, confidence, zone, warnings, target },
    createdAt: row.createdAt,
    createdBy: row.createdBy,
    candidateId: id,
    kbId,
    impactEstimate: impact,
    queueUrl: ctx.urls.candidate(id),
    ...(row.endUser === null ? {} : { onBehalfOf: row.endUser }),
    ...(row.assignee === null ? {} : { assignee: row.assignee }),
    ...(row.asked === null || status !== 'pending' ? {} : { changesRequested: row.asked }),
    ...(removes ? { removes } : {}),
    ...(approval === undefined ? {} : { seqId: approval.seqId, commit: approval.commit }),
  }
}

type SentRow = Pick<QueuedRow, 'row'> & { kbId: string }

/**
 * Returns a page of the candidates that the caller sent, with a person's those of their keys, newest first, of one knowledge base or of all that the tenant has.
 * @throws {GanglionError} `not_found`
 * @throws {ValidationError} for an unknown cursor
 */
export async function listSentCandidates(
  ctx: Context,
  caller: Caller,
  { kb: kbName, cursor, limit, ...filter }: SentCandidateQuery,
): Promise<SentCandidatePage> {
  const below = cursor === undefined ? undefined : decodeCursor(cursor, isUuid)
  const [kbs, senders] = [await queuedKbs(ctx, caller, kbName), [...(await sendersFor(ctx, caller))]]
  const found: SentRow[] = []
  for (const { identity, read } of kbs) {
    const sent = (sql: AllTables) =>
      senders.flatMap((sender) => sentBy(sql, sender, { ...filter, below, limit: limit + 1 }))
    const rows = (await read(sent)) ?? []
    found.push(...rows.map((row) => ({ row, kbId: identity.id })))
  }
  const page = found.toSorted((a, b) => (a.row.id < b.row.id ? 1 : -1)).slice(0, limit)
  const last = page.at(-1)
  const unavailable = unavailableAmong(kbs)
  return {
    candidates: await shown(ctx, caller, page),
    nextCursor: found.length > limit && last !== undefined ? encodeCursor(last.row.id) : null,
    ...(unavailable.length === 0 ? {} : { unavailable }),
  }
}

function withoutCurator({ by: _, ...asked }: NonNullable<CandidateSummary['changesRequested']>) {
  return asked
}

/** Returns a candidate that the caller sent. @throws {GanglionError} `not_found`, also for one that another caller sent */
export async function readSentCandidate(ctx: Context, caller: Caller, id: string): Promise<SentCandidate> {
  const { kb, row } = await findQueued(ctx, caller, id)
  const senders = await sendersFor(ctx, caller)
  const isOwn = [...senders].some((sender) => isSender(kb.projection.read, sender, id))
  const [candidate] = isOwn ? await shown(ctx, caller, [{ row, kbId: kb.identity.id }]) : []
  if (candidate === undefined) throw new GanglionError('not_found')
  const { frontMatter, original, removes, content } = parseCandidate(await kb.repository.readText(row.blob))
  const isOwnText = frontMatter === null && original === undefined && !removes
  return { ...candidate, ...(isOwnText && { content: unixLines(content) }) }
}

/** Returns candidates as their sender may see them. Opens a knowledge base only if one was approved, to read its access rules. */
async function shown(ctx: Context, caller: Caller, rows: readonly SentRow[]): Promise<SentCandidate[]> {
  const views = new Map<string, KbView>()
  const candidates: SentCandidate[] = []
  for (const { row, kbId } of rows) {
    const { candidateId, kind, title, version, status, target, createdAt, queueUrl, onBehalfOf, changesRequested } =
      toSummary(ctx, kbId, row)
    const { approval, zone, reason, dismissal } = row
    const view = approval && (views.get(kbId) ?? (await viewFor(caller, await ctx.kb(caller.tenantId, kbId))))
    if (view !== undefined) views.set(kbId, view)
    candidates.push({
      ...{ candidateId, kbId, kind, title, version, status, target, createdAt, queueUrl },
      ...(onBehalfOf && { onBehalfOf }),
      verdict: { zone, reason },
      ...(changesRequested && { changesRequested: withoutCurator(changesRequested) }),
      ...(status === 'dismissed' && dismissal !== null ? { reason: dismissal } : {}),
      ...(approval && view?.seesNeuron(approval.seqId) ? { seqId: approval.seqId, commit: approval.commit } : {}),
    })
  }
  return candidates
}
