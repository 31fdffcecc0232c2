import type { EdgeType } from '../contract/vocabulary.ts'
import type { Edge, WikiLink } from './neuron.ts'

/** A link of a Neuron as it is written: an edge of its front matter, or a wiki link of its body. */
export type WrittenLink = {
  type: EdgeType
  /** Slug of another KB. */
  kb: string | null
  target: string
  embed: boolean
  /** 1-based line of the body. Null for an edge. */
  line: number | null
}

/** The links of a Neuron in their order: edges first. */
export function writtenLinks(edges: readonly Edge[], links: readonly WikiLink[]): WrittenLink[] {
  return [
    ...edges.map(({ type, target }) => ({ type, kb: null, target, embed: false, line: null })),
    ...links.map(({ type = 'cites', kb = null, target, embed, line }) => ({ type, kb, target, embed, line })),
  ]
}
