import type { Edge } from '../../rules/neurons/neuron.ts'

export type CompiledPage = {
  /** Key of a part, the same through all editions: `summary`, or a slug of its headings when it was first compiled. */
  key: string
  /** The part's own name in this edition: a slug of its headings, with a number if they repeat. */
  part?: string
  kind: 'summary' | 'part'
  title: string
  /** Markdown, without front matter and without the title as a heading. */
  content: string
  tags: string[]
  /** Audience that the document declares; it can only narrow who sees the page. */
  audience?: string[]
  /** Edges to titles in the same document or knowledge base. */
  edges?: Edge[]
  place: PlaceInSource
  /** Reasons, for people, why a curator must decide on the page. */
  doubts?: string[]
  /** True if the page may not be the next version of the page with its key, according to one of the doubts. */
  isUncertain?: true
  /** Language model that wrote a part of the page. */
  model?: string
}

/** Place of a page's text in the original: its pages or slides, or the sheet or second at which it begins. */
export type PlaceInSource = { pages?: Span; slides?: Span; sheet?: string; time?: number }

export type Span = readonly [first: number, last: number]
