import type { ChunkHit } from '../search-index.ts'

/** A retrieved chunk of a Neuron, with the data needed to cite it. */
export type Passage = Pick<ChunkHit, 'headings' | 'content' | 'text' | 'rank' | 'rarity' | 'byMeaning'> & {
  seqId: string
  /** UUID, or the seqId if the Neuron has no UUID yet. */
  documentId: string
  title: string
  /** Path in the repository. */
  path: string
  /** The commit of the Neuron's version. */
  commit: string
  /** True if the page is past its review date. */
  stale?: true
}
