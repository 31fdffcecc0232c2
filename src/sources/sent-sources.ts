import { decodeCursor, encodeCursor } from '../contract/cursor.ts'
import type { SentSource, SourcePage, SourceQuery } from '../contract/documents.ts'
import { GanglionError } from '../contract/errors.ts'
import type { Context } from '../kb/context.ts'
import type { Caller } from '../rules/access/caller.ts'
import { isUuid } from '../rules/candidates/candidate-id.ts'
import { readSourceOutcome } from './read-source-outcome.ts'
import { toSourceAnswer } from './source-view.ts'

/** A page of the Sources of all knowledge bases that the caller uploaded, newest first. @throws {ValidationError} for a cursor that no page gave. */
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

/** A Source that the caller uploaded, archived or not, and what became of it. @throws {GanglionError} `not_found` */
export async function readSentSource(ctx: Context, caller: Caller, docId: string): Promise<SentSource> {
  const source = await ctx.sources.find(caller.tenantId, docId)
  if (source?.uploader.id !== caller.id) throw new GanglionError('not_found')
  const { neurons, neuronCount, candidateCount } = await readSourceOutcome(ctx, caller, docId)
  return { ...toSourceAnswer(source), archivedAt: source.archivedAt, neurons, neuronCount, candidateCount }
}
