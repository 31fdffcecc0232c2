import type { Edge } from '../../knowledge/neuron.ts'

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
  place: Place
}

/** Where a page's text stands in the original: its pages or slides, or the sheet or the second where it begins. */
export type Place = { pages?: Span; slides?: Span; sheet?: string; time?: number }

/** From the first to the last, each 1-based. */
export type Span = readonly [first: number, last: number]
