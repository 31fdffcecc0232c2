import type { DocumentKind } from '../contract/enumerations.ts'
import type { Audience } from '../rules/access/audience.ts'
import type { Chunk } from '../rules/neurons/chunk.ts'
import type { FilterGroup } from './query/filters.ts'

/** A page to be indexed. */
export type IndexedDocument = {
  /** Unique in the index: a Neuron's seqId, or the UUID of a Source. */
  key: string
  kind: DocumentKind
  /** Changes whenever anything in the page changes. */
  version: string
  title: string
  aliases: readonly string[]
  tags: readonly string[]
  /** Path in the knowledge base, without a suffix. */
  path?: string
  /** Time of the last change: ISO 8601, in UTC. */
  changedAt?: string
  /** Names of the audience. Undefined if the knowledge base's default applies. */
  audience: readonly string[] | undefined
  /** Shared note of a user. */
  note: string | undefined
  chunks: readonly Chunk[]
}

/** Some chunks of a page that is too large to be indexed at once. The page is not visible before its last part. */
export type PagePart = IndexedDocument & {
  /** Identifies all chunks of the page. A part with another fingerprint starts the page again. */
  fingerprint: string
  /** Number of the page's chunks before these. */
  start: number
  /** Number of the page's chunks in all, at least 1. */
  total: number
}

/** The reader. Pages hidden from this audience are not counted, ranked or found. */
export type View = { audience: Audience; defaultAudience: readonly string[] }

/** A reader and a range of hits: `offset` hits are skipped, then `limit` returned. */
export type Scope = View & { kind?: DocumentKind; limit: number; offset?: number }

export type PageHit = {
  key: string
  /** Excerpt as HTML: see `highlight`. */
  highlight: string
  /** Rank in (0, 1]: the best page of the answer has 1. */
  rank: number
}

export type PageHits = {
  /** Hits, best first. */
  hits: PageHit[]
  /** Number of hits in all. */
  total: number
  /** Extent of the match. `some`: no page matches the whole query, and these match parts of it. */
  matched: 'all' | 'some'
  /** The query with misspelled words corrected. */
  suggestion?: string
  facets?: Facets
}

/** A value, and the number of matching pages that have it. */
export type FacetCount = { value: string; count: number }
/** Values by frequency, most frequent first. */
export type Facets = { tags: FacetCount[]; kinds: FacetCount[]; folders: FacetCount[] }

/**
 * Options of a search. `isTyped`: the last word is still being typed, so it also counts as a prefix. `hasFacets`: count the
 * matching pages by tag, kind and folder. `synonyms`: groups of words and phrases that also find each other.
 */
export type SearchOptions = { isTyped?: boolean; hasFacets?: boolean; synonyms?: readonly (readonly string[])[] }

export type ChunkHit = {
  key: string
  /** Index of the first chunk in the page. `chunkCount`: number of chunks in the hit. */
  ordinal: number
  chunkCount: number
  /** Headings above the chunk, outermost first. */
  headings: readonly string[]
  /** Markdown of the chunk. */
  content: string
  /** Rank in (0, 1]: the best chunk of the answer has 1. */
  rank: number
  /** Rarity of each term of the question among the visible chunks; 1 if none of them contains it. */
  rarity: Readonly<Record<string, number>>
  /** True if embeddings influenced the order of this answer. */
  byMeaning?: true
}

/** Extent of a hit: the chunk alone, or the part of its section that people can read in one go. */
export type Reach = 'chunk' | 'section'

/** Bounds of the answer. Lengths are in UTF-16 code units; `least` is the smallest length worth a budget of its own. */
export type Packing = { maxChars: number; topK: number; least: number }

export type RetrieveOptions = {
  /** Returns one text for each page, packed from parts of its chunks; see `packPassages`. */
  packing?: Packing | undefined
  reach?: Reach | undefined
  /** Restricts the answer to pages that pass all of these. Ranking does not change. */
  filters?: readonly FilterGroup[]
  /** Vector of the question. If absent, or if no chunk has one, words alone count. */
  vector?: Float32Array | undefined
  /** Groups of words and phrases that also find each other. */
  synonyms?: readonly (readonly string[])[]
}

export type Engine = 'minisearch' | 'segments'

export class SearchTimeout extends Error {
  constructor() {
    super('The search took too long; use fewer or longer words.')
  }
}

/** Thrown if the index was rebuilt or changed by another process since the stamp of the request. */
export class StaleIndex extends Error {
  constructor() {
    super('The search index has changed.')
  }
}

/** A retrieved chunk of a Neuron, with the data needed to cite it. */
export type Passage = Pick<ChunkHit, 'headings' | 'content' | 'rank' | 'rarity' | 'byMeaning'> & {
  seqId: string
  /** UUID of the document, or the seqId if the Neuron has no UUID yet. */
  documentId: string
  title: string
  /** Path in the repository. */
  path: string
  /** The commit of the Neuron's version. */
  commit: string
  /** True if the page is past its review date. */
  stale?: true
}
