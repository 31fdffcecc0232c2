import type { Edge } from '../../knowledge/neuron.ts'
import type { Anchor } from '../extracted.ts'

/** A page that a Source becomes. */
export type CompiledPage = {
  /** The same for the same part whenever the Source is compiled again: `summary`, or a slug of the part's headings. */
  key: string
  kind: 'summary' | 'part'
  title: string
  /** Markdown, without front matter and without the title as a heading. */
  content: string
  tags: string[]
  /** To titles of the same document or of its knowledge base. */
  edges?: Edge[]
  /** Where the part begins in the original. */
  anchor: Omit<Anchor, 'line'>
}
