import type { SourcePlace } from '../contract/console-paths.ts'
import { viewFor } from '../kb/access/kb-view.ts'
import type { Context } from '../kb/context.ts'
import type { KnowledgeBase } from '../kb/knowledge-base.ts'
import { pendingBelow, presentBelow } from '../kb/projection/candidate-index.ts'
import { findNeuron } from '../kb/projection/neuron-queries.ts'
import { parseNeuronFile } from '../markdown/file/neuron-file.ts'
import type { Caller } from '../rules/access/caller.ts'
import { ingestConnector } from '../rules/candidates/candidate.ts'
import type { Source as StoredSource } from '../state/sources/source.ts'
import { findSource } from './find-source.ts'
import { originPrefix } from './ingest/source-candidate.ts'

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
