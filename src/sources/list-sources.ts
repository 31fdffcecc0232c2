import type { SentSource, SourcePage, SourceQuery } from '../contract/documents.ts'
import { decodeCursor, encodeCursor } from '../contract/envelope.ts'
import { GanglionError } from '../contract/errors.ts'
import { sourceSight } from '../kb/access/kb-view.ts'
import type { Context } from '../kb/context.ts'
import type { Caller } from '../rules/access/caller.ts'
import { isUuid } from '../rules/candidates/candidate-id.ts'
import type { Source } from '../state/sources/source.ts'
import type { SourceFilter } from '../state/sources/sources.ts'
import { findKb } from './find-source.ts'
import { toSourceAnswer } from './read-source.ts'
import { readSourceOutcome } from './read-source-outcome.ts'

const seq = /^[1-9][0-9]{0,14}$/

export type SourceSearch = SourceQuery & SourceFilter

/**
 * Returns a page of the Sources of a knowledge base that are visible to the caller, newest first.
 * @throws {GanglionError} `not_found` @throws {ValidationError} for an unknown cursor
 */
export async function listSources(
  ctx: Context,
  caller: Caller,
  kbName: string,
  { status, cursor, limit, ...filter }: SourceSearch,
): Promise<SourcePage> {
  const below = cursor === undefined ? undefined : Number(decodeCursor(cursor, (place) => seq.test(place)))
  const { id } = await findKb(ctx, caller, kbName)
  const isSeen = await sourceSight(ctx, caller, id)
  const statuses = status === undefined ? filter.statuses : [status]
  const found: Source[] = []
  for (let from = below, isLast = false; found.length <= limit && !isLast; ) {
    const rows = await ctx.sources.list(id, { ...filter, statuses, below: from, limit: limit + 1 })
    found.push(...rows.filter(isSeen))
    isLast = rows.length <= limit
    from = rows.at(-1)?.seq
  }
  const page = found.slice(0, limit)
  const last = page.at(-1)
  return {
    documents: page.map(toSourceAnswer),
    nextCursor: found.length > limit && last !== undefined ? encodeCursor(String(last.seq)) : null,
  }
}

/** Returns a page of the Sources that the caller uploaded, newest first. @throws {ValidationError} for an unknown cursor */
export async function listSentSources(
  ctx: Context,
  { tenantId, id: uploader }: Caller,
  { status, cursor, limit }: SourceQuery,
): Promise<SourcePage> {
  const below = cursor === undefined ? undefined : decodeCursor(cursor, isUuid)
  const found = await ctx.sources.uploadedBy({ tenantId, uploader }, { status, below, limit: limit + 1 })
  const page = found.slice(0, limit)
  const last = page.at(-1)
  return {
    documents: page.map(toSourceAnswer),
    nextCursor: found.length > limit && last !== undefined ? encodeCursor(last.id) : null,
  }
}

/** Returns a Source that the caller uploaded, archived or not, and its outcome. @throws {GanglionError} `not_found` */
export async function readSentSource(ctx: Context, caller: Caller, docId: string): Promise<SentSource> {
  const source = await ctx.sources.find(caller.tenantId, docId)
  if (source?.uploader.id !== caller.id) throw new GanglionError('not_found')
  const { neurons, neuronCount, candidateCount } = await readSourceOutcome(ctx, caller, docId)
  return { ...toSourceAnswer(source), archivedAt: source.archivedAt, neurons, neuronCount, candidateCount }
}
