import { viewFor } from '../kb/access/kb-view.ts'
import type { Context } from '../kb/context.ts'
import { pendingBelow, presentBelow } from '../kb/projection/candidate-index.ts'
import type { Caller } from '../rules/access/caller.ts'
import type { Source as StoredSource } from '../state/sources/source.ts'
import { findSource } from './find-source.ts'
import { ingestConnector, originPrefix } from './ingest/source-candidate.ts'

/** The result of a Source. Counts are complete; lists have only the first entries. */
export type SourceOutcome = {
  neurons: { seqId: string; title: string }[]
  neuronCount: number
  /** Pending candidates; only for curators. */
  candidates: { candidateId: string; title: string; removes: boolean; warnings: string[] }[]
  /** Also for the uploader. */
  candidateCount: number
  /** Editions of the same document, newest first; only for curators. */
  editions: (Pick<StoredSource, 'id' | 'seq' | 'createdAt' | 'archivedAt'> & { uploader: string })[]
}

const maxListed = 100

/** @throws {GanglionError} `not_found` */
export async function readSourceOutcome(ctx: Context, caller: Caller, docId: string): Promise<SourceOutcome> {
  const { kbId, editionOf, uploader } = await findSource(ctx, caller, docId)
  const kb = await ctx.kb(caller.tenantId, kbId)
  const { read: sql } = kb.projection
  const view = await viewFor(caller, kb)
  const prefix = originPrefix(editionOf)
  const neurons = Array.from(presentBelow(sql, ingestConnector, prefix)).filter(({ seqId }) => view.seesNeuron(seqId))
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
