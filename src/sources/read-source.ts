import type { SourcePlace } from '../contract/console-paths.ts'
import {
  type SentSource,
  SourceAnswer,
  SourceDetail,
  type SourcePage,
  type SourceQuery,
} from '../contract/documents.ts'
import { decodeCursor, encodeCursor } from '../contract/envelope.ts'
import { GanglionError } from '../contract/errors.ts'
import { type FileContent, savedFileType } from '../contract/files.ts'
import { sourceSight, viewFor } from '../kb/access/kb-view.ts'
import type { Context } from '../kb/context.ts'
import type { KnowledgeBase } from '../kb/knowledge-base.ts'
import { pendingBelow, presentBelow } from '../kb/projection/candidate-index.ts'
import { findNeuron } from '../kb/projection/neuron-queries.ts'
import { parseNeuronFile } from '../markdown/file/neuron-file.ts'
import type { Caller } from '../rules/access/caller.ts'
import { ingestConnector } from '../rules/candidates/candidate.ts'
import { isUuid } from '../rules/candidates/candidate-id.ts'
import type { Source, Source as StoredSource } from '../state/sources/source.ts'
import type { SourceFilter } from '../state/sources/sources.ts'
import { findKb, findSource } from './find-source.ts'
import { originPrefix } from './ingest/source-candidate.ts'

/** Returns a Source that is visible to the caller. @throws {GanglionError} `not_found` */
export async function readSource(ctx: Context, caller: Caller, docId: string): Promise<SourceDetail> {
  return toSourceDetail(await findSource(ctx, caller, docId))
}

/**
 * Returns the uploaded bytes of a Source. Browsers must save them, never show them. @throws {GanglionError} `not_found`
 */
export async function sourceContent(ctx: Context, caller: Caller, docId: string): Promise<FileContent> {
  const { filename, contentHash, fileSize: size } = await findSource(ctx, caller, docId)
  const read: FileContent['read'] = (range) => ctx.blobs.get(contentHash, range)
  return { filename, size, etag: contentHash, type: savedFileType, read }
}

/** Returns a Source in the form of the API. */
export function toSourceAnswer(source: StoredSource): SourceAnswer {
  return SourceAnswer.parse(view(source))
}

/** Returns a Source in the form of the API for curators. */
function toSourceDetail(source: StoredSource): SourceDetail {
  return SourceDetail.parse(view(source))
}

function view({ kbId, warnings, ...source }: StoredSource) {
  return { ...source, ...(warnings.length === 0 ? {} : { warnings }), knowledgeBaseId: kbId, kind: 'source' }
}

/** A Neuron, and where in the Source its text begins. */
export type PlacedNeuron = { seqId: string; title: string; place: SourcePlace }

/** The result of a Source. Counts are complete; lists have only the first entries. */
export type SourceOutcome = {
  neurons: { seqId: string; title: string }[]
  neuronCount: number
  /** Pending candidates; only for curators. */
  candidates: { candidateId: string; title: string; removes: boolean; warnings: string[] }[]
  /** Number of pending candidates; also for the uploader. */
  candidateCount: number
  /** Editions of the same document, newest first; only for curators. */
  editions: (Pick<StoredSource, 'id' | 'seq' | 'createdAt' | 'archivedAt'> & { uploader: string })[]
}

const maxListed = 100
/** Maximum locations of pages in a Source, more than the parts of any document. */
const maxPlaced = 600

/** Returns the outcome of an ingest. @throws {GanglionError} `not_found` */
export async function readSourceOutcome(ctx: Context, caller: Caller, docId: string): Promise<SourceOutcome> {
  const { kbId, editionOf, uploader } = await findSource(ctx, caller, docId)
  const kb = await ctx.kb(caller.tenantId, kbId)
  const { read: sql } = kb.projection
  const prefix = originPrefix(editionOf)
  const neurons = await seenNeurons(kb, caller, prefix)
  const isCurator = caller.role === 'curator'
  const pending = isCurator || uploader.id === caller.id ? pendingBelow(sql, ingestConnector, prefix) : []
  const editions = isCurator ? await ctx.sources.editions(editionOf) : []
  return {
    neurons: neurons.slice(0, maxListed),
    neuronCount: neurons.length,
    candidates: pending
      .slice(0, isCurator ? maxListed : 0)
      .map(({ id, title, removes, warnings }) => ({ candidateId: id, title, removes, warnings })),
    candidateCount: pending.length,
    editions: editions.slice(0, maxListed).map(({ id, seq, createdAt, archivedAt, uploader }) => ({
      ...{ id, seq, createdAt, archivedAt, uploader: uploader.name },
    })),
  }
}

/** Returns the Neurons compiled from this edition of a Source, with their places in it. @throws {GanglionError} `not_found` */
export async function readPlacedNeurons(ctx: Context, caller: Caller, docId: string): Promise<PlacedNeuron[]> {
  const { kbId, editionOf } = await findSource(ctx, caller, docId)
  const kb = await ctx.kb(caller.tenantId, kbId)
  const neurons = (await seenNeurons(kb, caller, originPrefix(editionOf))).slice(0, maxPlaced)
  const placed = neurons.map(async (neuron) => {
    const row = findNeuron(kb.projection.read, neuron.seqId)
    const { sources } = parseNeuronFile(row === undefined ? '' : await kb.repository.readTextOnce(row.blob)).fields
    return sources.filter(({ id }) => id === docId).map((place) => ({ ...neuron, place }))
  })
  return (await Promise.all(placed)).flat()
}

async function seenNeurons(kb: KnowledgeBase, caller: Caller, prefix: string) {
  const view = await viewFor(caller, kb)
  return presentBelow(kb.projection.read, ingestConnector, prefix).filter(({ seqId }) => view.seesNeuron(seqId))
}

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
