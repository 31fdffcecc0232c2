import type { Query } from '../query/query-tree.ts'
import type { QuestionTerm } from '../query/question.ts'
import type { Catalog } from './catalog.ts'
import type { Deadline } from './deadline.ts'
import type { IndexStore } from './index-store.ts'
import type { StoredPage } from './store-tables.ts'
import type { Visible } from './visible.ts'

export type ScoredChunk = { chunk: number; page: number; score: number }

/** A chunk as an engine takes it in: `terms` is what `pageTerms` made. */
export type TermChunk = { id: number; terms: string }

export type PageMatches = {
  /** The best pages that match, each with its best chunk, best first. */
  pages: ScoredChunk[]
  /** How many match in all, */
  total: number
  /** and which: 1 for each of them, by page id. Computed when it is asked for. */
  matching: () => Uint8Array
}

const maxExpansions = 200

/** Finds and ranks the chunks and pages that hold terms. What is not visible is as if it were not there. */
export interface TermEngine {
  /** How many different terms are in memory. */
  readonly termsInMemory: number
  /** An engine that also finds what this one finds, and keeps what it takes in to itself. Both are those of an index laid over this one's. */
  over(catalog: Catalog, store: IndexStore): TermEngine
  addChunks(chunks: readonly TermChunk[]): void
  /** The last chunks of a page are about to be removed from the store. */
  removeChunks(page: StoredPage, count: number): void
  /** A page is whole: all its chunks were added. */
  addPage(id: number): void
  /** A page that was added is about to be removed from the store, or is no longer whole. Its chunks are still there. */
  removePage(page: StoredPage): void
  /** Ends a transaction: what it added is found from now on. */
  commit(): void
  /**
   * Tidies up so that queries stay fast. Within a transaction.
   * @param until when it stops, by `performance.now()`
   * @returns whether there is more to do
   */
  work(until: number): boolean
  /**
   * @param among 1 for each page that may be found, by id: some of those that are visible. Scores are those of all visible pages.
   * @throws {SearchTimeout}
   */
  search(query: Query, visible: Visible, limit: number, deadline: Deadline, among?: Uint8Array): PageMatches
  /** The best chunks that hold any of the terms, best first. @param among as in {@link search} @throws {SearchTimeout} */
  retrieve(
    terms: readonly QuestionTerm[],
    visible: Visible,
    limit: number,
    deadline: Deadline,
    among?: Uint8Array,
  ): ScoredChunk[]
  /** In how many visible chunks a term is. */
  chunksWith(term: string, visible: Visible): number
  /**
   * The terms of visible chunks that a word becomes with at most so many edits, itself included, each with the number of visible
   * chunks that hold it, in no order; of the words of names only names. An edit inserts, removes or replaces a character, or swaps two neighbours; see `EditRows`.
   * @throws {SearchTimeout}
   */
  similarTerms(
    word: string,
    maxEdits: number,
    visible: Visible,
    deadline: Deadline,
  ): [term: string, chunkCount: number][]
  /** As {@link similarTerms}: those that end so. No names. @throws {SearchTimeout} */
  termsEnding(ending: string, visible: Visible, deadline: Deadline): [term: string, chunkCount: number][]
  /** Keeps on disk what makes the next opening fast. */
  save(): void
  close(): void
}

/** The terms that a prefix stands for: of all that begin so, the 200 that are in the most chunks. */
export function mostFrequent(terms: Iterable<[term: string, chunkCount: number]>): string[] {
  return [...terms]
    .sort(([a, countOfA], [b, countOfB]) => countOfB - countOfA || (a < b ? -1 : 1))
    .slice(0, maxExpansions)
    .map(([term]) => term)
}
