/** A chunk of a Neuron that was found for a question, with what it takes to cite it. */
export type Passage = {
  seqId: string
  /** UUID; the seqId where the Neuron was given none yet. */
  documentId: string
  title: string
  /** In the repository. */
  path: string
  /** The commit of the Neuron's version. */
  commit: string
  /** Headings that the chunk stands under, outermost first. */
  headings: readonly string[]
  /** Markdown. */
  content: string
  /** What a reader sees of it. */
  text: string
  /** (0, 1], comparable within one answer. */
  rank: number
  /** Past its date. */
  stale?: true
  /** How rare each term of the question is among the chunks that may be seen: 1 for one that none of them holds. */
  rarity: Readonly<Record<string, number>>
  /** Meaning had a part in the order of the passages. */
  byMeaning?: true
}
