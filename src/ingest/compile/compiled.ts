import type { Edge } from '../../knowledge/neuron.ts'

/** A page that a Source becomes. */
export type CompiledPage = {
  /** The same for the same part of every edition: `summary`, or a slug of the part's headings when it was first compiled. */
  key: string
  /** The part of this edition that it is of: a slug of its headings, counted where they repeat. */
  part?: string
  kind: 'summary' | 'part'
  title: string
  /** Markdown, without front matter and without the title as a heading. */
  content: string
  tags: string[]
  /** To titles of the same document or of its knowledge base. */
  edges?: Edge[]
  place: Place
  /** Why a curator must decide on it, for them. */
  doubts?: string[]
  /** Whether one of them is that it may be about something else than the page whose key it has. */
  isUncertain?: true
}

/** Where a page's text stands in the original: its pages or slides, or the sheet or the second where it begins. */
export type Place = { pages?: Span; slides?: Span; sheet?: string; time?: number }

/** From the first to the last, each 1-based. */
export type Span = readonly [first: number, last: number]
