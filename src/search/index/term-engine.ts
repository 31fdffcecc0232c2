import type { Query } from '../query/query-tree.ts'
import type { QuestionTerm } from '../query/query-words.ts'
import type { Analyser } from '../text/analyser.ts'
import type { Catalog, Visible } from './catalog.ts'
import type { Deadline } from './deadline.ts'
import type { IndexStore } from './index-store.ts'
import type { StoredPage } from './store-tables.ts'

export type ScoredChunk = { chunk: number; page: number; score: number }

/** A chunk to be added to an engine. `terms`: see `pageTerms`. */
export type TermChunk = { id: number; terms: string }

export type PageMatches = {
  /** The best matching pages, best first, each with its best chunk. */
  pages: ScoredChunk[]
  /** Number of matching pages. */
  total: number
  /** Returns 1 for each matching page, by id. Computed on demand. */
  matching: () => Uint8Array
}

const maxExpansions = 200

/** Finds and ranks the chunks and pages that contain terms. Invisible pages are treated as absent. */
export interface TermEngine {
  /** Number of different terms in memory. */
  readonly termsInMemory: number
  /** Returns an engine for a layer over this one. It finds the content of both; additions stay in the layer. */
  over(catalog: Catalog, store: IndexStore): TermEngine
  addChunks(chunks: readonly TermChunk[]): void
  /** Removes the last chunks of a page. Called before they are removed from the store. */
  removeChunks(page: StoredPage, count: number): void
  /** Adds a page, all of whose chunks were added. */
  addPage(id: number): void
  /** Removes a page that was added. Called before it is removed from the store or becomes incomplete, while its chunks are still there. */
  removePage(page: StoredPage): void
  /** Ends a transaction: its additions become visible. */
  commit(): void
  /**
   * Merges segments so that queries stay fast. Must run within a transaction.
   * @param until time to stop, by `performance.now()`
   * @returns true if there is more to do
   */
  work(until: number): boolean
  /**
   * Returns the best pages that match a query.
   * @param allowedPages 1 for each page that may be found, by id: a subset of the visible pages. Scores are those of all visible
   * pages.
   * @throws {SearchTimeout}
   */
  search(query: Query, visible: Visible, limit: number, deadline: Deadline, allowedPages?: Uint8Array): PageMatches
  /** Returns the best chunks that contain any of the terms, best first. @param allowedPages as in {@link search} @throws {SearchTimeout} */
  retrieve(
    terms: readonly QuestionTerm[],
    visible: Visible,
    limit: number,
    deadline: Deadline,
    allowedPages?: Uint8Array,
  ): ScoredChunk[]
  /** Returns the number of visible chunks with a term. */
  chunksWith(term: string, visible: Visible): number
  /**
   * Returns the terms within `maxEdits` edits of a word, itself included, each with its number of visible chunks, in no order. A
   * name term matches name terms alone. An edit inserts, deletes, replaces or transposes; see `EditRows`.
   * @throws {SearchTimeout}
   */
  similarTerms(
    word: string,
    maxEdits: number,
    visible: Visible,
    deadline: Deadline,
  ): [term: string, chunkCount: number][]
  /** Returns the terms with an ending, as {@link similarTerms}, without names. @throws {SearchTimeout} */
  termsEnding(ending: string, visible: Visible, deadline: Deadline): [term: string, chunkCount: number][]
  /** Keeps on disk what makes the next opening fast. */
  save(): void
  close(): void
}

/** Returns the 200 most frequent of the terms with a prefix. */
export function mostFrequent(terms: Iterable<[term: string, chunkCount: number]>): string[] {
  return [...terms]
    .sort(([a, countOfA], [b, countOfB]) => countOfB - countOfA || (a < b ? -1 : 1))
    .slice(0, maxExpansions)
    .map(([term]) => term)
}

/** Parts of an index, from which queries are answered. */
export type IndexParts = { analyser: Analyser; engine: TermEngine; store: IndexStore; catalog: Catalog }
