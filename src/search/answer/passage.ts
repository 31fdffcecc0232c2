/** A retrieved chunk of a Neuron, with the data needed to cite it. */
export type Passage = {
  seqId: string
  /** UUID, or the seqId if the Neuron has no UUID yet. */
  documentId: string
  title: string
  /** Path in the repository. */
  path: string
  /** The commit of the Neuron's version. */
  commit: string
  /** Headings above the chunk, outermost first. */
  headings: readonly string[]
  /** Markdown. */
  content: string
  /** Text without markup. */
  text: string
  /** Rank in (0, 1], comparable within one answer. */
  rank: number
  /** True if the page is past its review date. */
  stale?: true
  /** Rarity of each term of the question among the visible chunks; 1 if none of them contains it. */
  rarity: Readonly<Record<string, number>>
  /** True if embeddings influenced the order of the passages. */
  byMeaning?: true
}
