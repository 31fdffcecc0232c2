import type { default as MiniSearch, SearchOptions } from 'minisearch'
import type { Catalog } from '../index/catalog.ts'
import type { Deadline } from '../index/deadline.ts'
import type { IndexStore } from '../index/index-store.ts'
import { occurrences } from '../index/page-terms.ts'
import type { StoredPage } from '../index/store-tables.ts'
import {
  mostFrequent,
  type PageMatches,
  type ScoredChunk,
  type TermChunk,
  type TermEngine,
} from '../index/term-engine.ts'
import type { Visible } from '../index/visible.ts'
import { everyLeafOf, type Leaf, leavesOf, type Query, withoutBonus } from '../query/query-tree.ts'
import type { QuestionTerm } from '../query/question.ts'
import { best, idf, type ScoredPostings, Scorer } from '../rank/scorer.ts'
import { isWithinEdits } from '../text/edit-rows.ts'
import { isNameTerm } from '../text/name-terms.ts'
import { loadChunks, saveChunks } from './minisearch-snapshot.ts'

/** Options with which MiniSearch's score of a chunk is the frequency of the term times its `idf` among all chunks. */
const byFrequency: SearchOptions = { bm25: { k: 1e9, b: 0, d: 0 } }

/**
 * Engine of small knowledge bases: MiniSearch in memory. MiniSearch finds the chunks with a term, a prefix or a similar term.
 * Pages are matched and ranked here by statistics of the visible pages, so that hidden ones count nowhere.
 */
export class MiniSearchEngine implements TermEngine {
  readonly #catalog: Catalog
  readonly #store: IndexStore
  readonly #file: string
  readonly #scorer: Scorer
  readonly #index: MiniSearch<TermChunk>
  /** Terms of each chunk, to find phrases. */
  readonly #terms: Map<number, string>
  /** Engine below this layer. */
  readonly #below: MiniSearchEngine | undefined
  /** Terms at the last count, and chunks then: MiniSearch walks through all terms to count them. */
  #counted = { terms: 0, chunks: 0 }

  /** Loads the index. @param file of the snapshot */
  constructor(catalog: Catalog, store: IndexStore, file: string, below?: MiniSearchEngine) {
    this.#below = below
    this.#catalog = catalog
    this.#store = store
    this.#file = file
    this.#scorer = new Scorer(catalog)
    const { index, terms } = loadChunks(store, file)
    this.#index = index
    this.#terms = terms
  }

  over(catalog: Catalog, store: IndexStore): MiniSearchEngine {
    return new MiniSearchEngine(catalog, store, '', this)
  }

  get termsInMemory(): number {
    const { documentCount: chunks } = this.#index
    if (4 * Math.abs(chunks - this.#counted.chunks) > chunks) this.#counted = { terms: this.#index.termCount, chunks }
    return Math.round((this.#counted.terms * chunks) / Math.max(1, this.#counted.chunks))
  }

  addChunks(chunks: readonly TermChunk[]): void {
    for (const chunk of chunks) {
      this.#terms.set(chunk.id, chunk.terms)
      this.#index.add(chunk)
    }
  }

  removeChunks(page: StoredPage, count: number): void {
    this.#store.removedChunks.note(page, count)
    const end = page.firstChunk + page.lengths.length
    for (let id = end - count; id < end; id++) {
      // The engine below keeps its chunks; their pages are not visible here.
      if (!this.#terms.has(id)) continue
      this.#index.remove({ id, terms: this.#terms.get(id) ?? '' })
      this.#terms.delete(id)
    }
  }

  /** Needs nothing: pages are known by their chunks. */
  addPage(): void {}

  removePage(): void {}

  commit(): void {}

  work(): boolean {
    return false
  }

  close(): void {}

  search(query: Query, visible: Visible, limit: number, deadline: Deadline, allowedPages = visible.pages): PageMatches {
    const lists = new Map(
      everyLeafOf(query).map((leaf) => [leaf, { ...this.#ofLeaf(leaf, visible, deadline), weight: leaf.weight ?? 1 }]),
    )
    const scored = this.#scorer.scorePages(
      leavesOf(query).flatMap((leaf) => lists.get(leaf) ?? []),
      visible,
      allowedPages,
    )
    const matches = this.#matches(withoutBonus(query), lists, visible)
    const pages = scored.filter(({ page }) => matches[page] === 1)
    return {
      pages: best(pages, limit, this.#catalog),
      total: pages.length,
      matching: () => matches.map((matched, page) => matched & (allowedPages[page] ?? 0)),
    }
  }

  retrieve(
    terms: readonly QuestionTerm[],
    visible: Visible,
    limit: number,
    deadline: Deadline,
    allowedPages = visible.pages,
  ): ScoredChunk[] {
    const lists = terms.map(({ term, weight }) => ({ ...this.#ofTerm(term, visible, deadline), weight }))
    return best(this.#scorer.scoreChunks(lists, visible, allowedPages), limit, this.#catalog)
  }

  chunksWith(term: string, visible: Visible): number {
    return this.#counts(term, visible).get(term) ?? 0
  }

  similarTerms(
    word: string,
    maxEdits: number,
    visible: Visible,
    deadline: Deadline,
  ): [term: string, chunkCount: number][] {
    deadline.check()
    // MiniSearch counts a transposition as two edits.
    return [...this.#counts(word, visible, { fuzzy: 2 * maxEdits })].filter(([term]) => {
      return isWithinEdits(word, term, maxEdits) && (isNameTerm(term) || !isNameTerm(word))
    })
  }

  termsEnding(ending: string, visible: Visible, deadline: Deadline): [term: string, chunkCount: number][] {
    const found = new Set<string>()
    const sought = `${ending} `
    const below = this.#below === undefined ? [] : this.#below.#terms.values()
    for (const terms of [...below, ...this.#terms.values()]) {
      deadline.check()
      for (let at = terms.indexOf(sought); at >= 0; at = terms.indexOf(sought, at + 1)) {
        found.add(terms.slice(terms.lastIndexOf(' ', at) + 1, at + ending.length))
      }
    }
    return [...found].flatMap((term) => (isNameTerm(term) ? [] : [...this.#counts(term, visible)]))
  }

  save(): void {
    saveChunks(this.#store, this.#index, this.#file)
  }

  #termsOf(chunk: number): string {
    return this.#terms.get(chunk) ?? (this.#below === undefined ? '' : this.#below.#termsOf(chunk))
  }

  get #indexes(): MiniSearch<TermChunk>[] {
    return this.#below === undefined ? [this.#index] : [this.#below.#index, this.#index]
  }

  /** Returns 1 for every page that a query matches, by id. */
  #matches(query: Query, lists: ReadonlyMap<Query, ScoredPostings>, visible: Visible): Uint8Array {
    const matches = new Uint8Array(visible.pages.length)
    if (query.type === 'not') {
      const negated = this.#matches(query.query, lists, visible)
      for (let page = 0; page < matches.length; page++) matches[page] = negated[page] === 1 ? 0 : 1
    } else if (query.type === 'and' || query.type === 'or') {
      const [first = matches, ...others] = query.queries.map((part) => this.#matches(part, lists, visible))
      matches.set(first)
      // Value that decides: a part that does not match for `and`, one that does for `or`.
      const deciding = query.type === 'and' ? 0 : 1
      for (const part of others) {
        for (let page = 0; page < matches.length; page++) if (part[page] === deciding) matches[page] = deciding
      }
    } else {
      for (const chunk of lists.get(query)?.chunks ?? []) matches[this.#catalog.pageOf(chunk)] = 1
    }
    return matches
  }

  #ofLeaf(leaf: Leaf, visible: Visible, deadline: Deadline): ScoredPostings {
    if (leaf.type === 'term') return this.#ofTerm(leaf.term, visible, deadline)
    if (leaf.type === 'phrase') return this.#ofPhrase(leaf.terms, visible, deadline)
    return this.#ofTerms(mostFrequent(this.#counts(leaf.prefix, visible, { prefix: true })), visible, deadline)
  }

  /** Returns the terms that MiniSearch finds for a word, with their numbers of visible chunks. */
  #counts(word: string, visible: Visible, options?: SearchOptions): Map<string, number> {
    const counts = new Map<string, number>()
    const { pagesOfChunks } = this.#catalog
    const count = (chunk: number, term: string) => {
      if (visible.pages[pagesOfChunks[chunk] ?? 0] === 1) counts.set(term, (counts.get(term) ?? 0) + 1)
      return 0
    }
    for (const index of this.#indexes) index.search(word, { ...options, boostDocument: count })
    return counts
  }

  #ofTerm(term: string, visible: Visible, deadline: Deadline): ScoredPostings {
    deadline.check()
    const [chunks, frequencies]: [number[], number[]] = [[], []]
    for (const index of this.#indexes) {
      const found = index.search(term, byFrequency)
      const rarity = idf(found.length, index.documentCount)
      for (const { id, score } of found) {
        if (visible.pages[this.#catalog.pageOf(id)] !== 1) continue
        chunks.push(id)
        frequencies.push(Math.round(score / rarity))
      }
    }
    return this.#list(chunks, frequencies, visible)
  }

  /** Returns the postings of several terms as one list. */
  #ofTerms(terms: readonly string[], visible: Visible, deadline: Deadline): ScoredPostings {
    const together = new Map<number, number>()
    for (const term of terms) {
      const { chunks, frequencies } = this.#ofTerm(term, visible, deadline)
      for (const [index, chunk] of chunks.entries()) {
        together.set(chunk, (together.get(chunk) ?? 0) + (frequencies[index] ?? 0))
      }
    }
    return this.#list([...together.keys()], [...together.values()], visible)
  }

  #ofPhrase(terms: readonly string[], visible: Visible, deadline: Deadline): ScoredPostings {
    const held = terms.map((term) => this.#ofTerm(term, visible, deadline).chunks).sort((a, b) => a.length - b.length)
    const phrase = terms.join(' ')
    const [chunks, frequencies]: [number[], number[]] = [[], []]
    for (const [index, chunk] of (held[0] ?? []).entries()) {
      if (index % 1000 === 0) deadline.check()
      const frequency = occurrences(this.#termsOf(chunk), phrase)
      if (frequency === 0) continue
      chunks.push(chunk)
      frequencies.push(frequency)
    }
    return this.#list(chunks, frequencies, visible)
  }

  #list(chunks: readonly number[], frequencies: readonly number[], visible: Visible): ScoredPostings {
    const counted = new Uint8Array(visible.pages.length)
    let pageCount = 0
    for (const chunk of chunks) {
      const page = this.#catalog.pageOf(chunk)
      if (counted[page] === 1) continue
      counted[page] = 1
      pageCount++
    }
    return { chunks, frequencies, chunkCount: chunks.length, pageCount, weight: 1 }
  }
}
