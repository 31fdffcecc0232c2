import type { Ganglion } from '../ganglion.ts'
import type { EmbeddingCounts, EmbeddingModel } from './embedding-model.ts'

export type EmbeddingFigures = EmbeddingCounts & {
  /** Chunks of open knowledge bases that have a vector, */
  embedded: number
  /** and texts that lack one. */
  lacking: number
}

/** What a server's embeddings model did since the start, and what is left to do. */
export async function embeddingFigures(ganglion: Ganglion, model: EmbeddingModel): Promise<EmbeddingFigures> {
  const figures = { ...model.counts, embedded: 0, lacking: 0 }
  for (const kb of await ganglion.openKbs()) {
    const { embedder } = ganglion.search(kb)
    figures.embedded += embedder?.progress.embedded ?? 0
    figures.lacking += embedder?.progress.lacking ?? 0
  }
  return figures
}
