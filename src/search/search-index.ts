import type { DocumentKind } from '../contract/enumerations.ts'
import type { Audience } from '../rules/access/audience.ts'
import type { Chunk } from '../rules/neurons/chunk.ts'
import type { FilterGroup } from './query/filters.ts'

/** A page as an index takes it. */
export type IndexedDocument = {
  /** Unique in the index: a Neuron's seqId, or the UUID of a Source. */
  key: string
  kind: DocumentKind
  /** Other whenever anything of the page is other. */
  version: string
  title: string
  aliases: readonly string[]
  tags: readonly string[]
  /** In its knowledge base, without a suffix. */
  path?: string
  /** When it was last changed: ISO 8601, in UTC. */
  changedAt?: string
  /** Absent: the knowledge base's default holds. */
  audience: readonly string[] | undefined
  /** A user's note that is shared. */
  note: string | undefined
  chunks: readonly Chunk[]
}

/** Some chunks of a page that is too big to be taken in at once: it is not seen before it has the last of them. */
export type PagePart = IndexedDocument & {
  /** Names all its chunks: what was begun with others is begun anew. */
  fingerprint: string
  /** How many come before these. */
  start: number
  /** How many there are in all: 1 at least. */
  total: number
}

/** Who looks: what this audience may not see is not counted, ranked or found. */
export type View = { audience: Audience; defaultAudience: readonly string[] }

/** `offset`: hits that are left out, before those that `limit` counts. */
export type Scope = View & { kind?: DocumentKind; limit: number; offset?: number }

export type PageHit = {
  key: string
  /** HTML: see `highlight`. */
  highlight: string
  /** (0, 1]: the best page of the answer has 1. */
  rank: number
}

export type PageHits = {
  /** Best first. */
  hits: PageHit[]
  /** How many there are in all. */
  total: number
  /** `some`: no page matches the whole query, and these match parts of it. */
  matched: 'all' | 'some'
  /** The query with words that pages have, in place of those that none has, or hardly any. */
  suggestion?: string
  facets?: Facets
}

/** A value that pages have, and how many of those that match have it. */
export type FacetCount = { value: string; count: number }
/** The most frequent first. */
export type Facets = { tags: FacetCount[]; kinds: FacetCount[]; folders: FacetCount[] }

/**
 * How a query is read. `isTyped`: its last word is still being typed, and is a prefix, too. `hasFacets`: the answer counts what
 * matches by tag, kind and folder. `synonyms`: groups of words and phrases that are looked for in place of each other, too.
 */
export type SearchOptions = { isTyped?: boolean; hasFacets?: boolean; synonyms?: readonly (readonly string[])[] }

export type ChunkHit = {
  key: string
  /** The number of its first chunk in the page, and how many it has. */
  ordinal: number
  chunkCount: number
  headings: string[]
  content: string
  text: string
  /** (0, 1]: the best chunk of the answer has 1. */
  rank: number
  /** How rare each term of the question is among the chunks that may be seen: 1 for one that none of them holds. */
  rarity: Readonly<Record<string, number>>
  /** Meaning had a part in the order of this answer. */
  byMeaning?: true
}

/** How much of a page stands for a chunk that was found: just the chunk, or as much of its section as people like to read. */
export type Reach = 'chunk' | 'section'

/** Into what the answer is to fit. Lengths are in UTF-16 code units; `least` is that of a part that is worth a budget of its own. */
export type Packing = { maxChars: number; topK: number; least: number }

export type RetrieveOptions = {
  /** Of each page one text is told, of its chunks' parts: see `packPassages`. */
  packing?: Packing | undefined
  reach?: Reach | undefined
  /** Only chunks of pages that pass all of these; how they are ranked is the same. */
  filters?: readonly FilterGroup[]
  /** The vector of the question; without it, and without vectors of the chunks, words alone count. */
  vector?: Float32Array | undefined
  /** Groups of words and phrases that are looked for in place of each other, too. */
  synonyms?: readonly (readonly string[])[]
}

export type Engine = 'minisearch' | 'segments'

/** A full-text index of one knowledge base's pages. Equal for equal pages, whatever happened before. */
export interface SearchIndex {
  /** The keys of at most `limit` pages with their versions, of those behind a key, in the order of the keys' UTF-8 bytes. */
  versions(after: string, limit: number): [key: string, version: string][]
  /** Takes pages in, in place of what has the same key, and takes keys out; all of it or nothing. */
  apply(changes: { put: readonly IndexedDocument[]; remove: readonly string[] }): void
  /** Takes a part of a page in, or out what is in its way. @returns how many chunks of the page the index has now. */
  grow(part: PagePart): number
  /** Takes a page out, some chunks at a time; at once it is not seen any more. @returns how many chunks are left. */
  shrink(key: string): number
  /**
   * Pages that match a query of the query language, best first.
   * @throws {QueryError} for a query beyond the limits. @throws {SearchTimeout}
   */
  search(q: string, scope: Scope, options?: SearchOptions): PageHits
  /**
   * Chunks that hold any term of a question in natural language, or that a model of embeddings finds near it, best first.
   * @throws {SearchTimeout}
   */
  retrieve(question: string, scope: Scope, options?: RetrieveOptions): ChunkHit[]
  /** Pages that are near a query by meaning, whose vector is given, best first. */
  near(vector: Float32Array, scope: Scope): PageHit[]
  /** Keeps on disk what makes the next opening fast. */
  save(): void
  close(): void
}

/** A query took longer than a query may. */
export class SearchTimeout extends Error {
  constructor() {
    super('The search took too long; use fewer or longer words.')
  }
}

/** The index holds something else than was thought: it was made anew, or another process has changed it. */
export class StaleIndex extends Error {
  constructor() {
    super('The search index has changed.')
  }
}
