import type { Context } from '../../kb/context.ts'
import type { EmbeddingCounts, EmbeddingModel } from '../../models/embedding-model.ts'
import { kbSearch } from './kb-search.ts'

export type EmbeddingFigures = EmbeddingCounts & {
  /** Chunks of open knowledge bases that have a vector, */
  embedded: number
  /** and texts that lack one. */
  lacking: number
}

/** What a server's embeddings model did since the start, and what is left to do. */
export async function embeddingFigures(ctx: Context, model: EmbeddingModel): Promise<EmbeddingFigures> {
  const figures = { ...model.counts, embedded: 0, lacking: 0 }
  for (const kb of await ctx.kbs.all()) {
    const { embedder } = kbSearch(kb, ctx)
    figures.embedded += embedder?.progress.embedded ?? 0
    figures.lacking += embedder?.progress.lacking ?? 0
  }
  return figures
}
