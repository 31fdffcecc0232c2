import { everyLeafOf, type Leaf, leavesOf, type Query } from '../query/query.ts'
import type { QuestionTerm } from '../query/question.ts'
import { best, type PostingList, type ScoredChunk, Scorer } from '../rank/scorer.ts'
import { SearchTimeout } from '../search-index.ts'
import type { Catalog, Visible } from './catalog.ts'
import { FtsTables, type Unit } from './fts-tables.ts'
import type { IndexStore, StoredPage } from './index-store.ts'
import { boundary, occurrences } from './page-terms.ts'
import {
  checkDeadline,
  type Deadline,
  mostFrequent,
  type PageMatches,
  type TermChunk,
  type TermEngine,
} from './term-engine.ts'

/** How many more than asked for FTS5's own ranking of each class hands over to ours. */
const spareCandidates = 100

type Sought = { phrases: readonly string[]; weight: number }
/** Any of some phrases, and in how many chunks their words are, all together. */
type Phrases = { phrases: string[]; postings: number }

/** Milliseconds that FTS5 takes for each posting, and for each chunk and phrase: measured, and rather too little. */
const perPosting = 2e-4
const perPhraseOfChunk = 2e-5

/**
 * Postings on disk, in SQLite's FTS5: the engine for knowledge bases that outgrow the heap. Each class of pages has tables of
 * its own, and a query reads only those of the classes that it may see.
 */
export class SqliteEngine implements TermEngine {
  readonly #catalog: Catalog
  readonly #store: IndexStore
  readonly #scorer: Scorer
  /** By the id of the class. */
  readonly #tables = new Map<number, FtsTables>()

  constructor(catalog: Catalog, store: IndexStore) {
    this.#catalog = catalog
    this.#store = store
    this.#scorer = new Scorer(catalog)
    for (const name of FtsTables.names(store.db)) this.#tables.set(Number(name), new FtsTables(store.db, name))
    if (this.#isBehind()) this.#fill()
  }

  /** Forgets what it holds, where another engine goes on. */
  static drop(store: IndexStore): void {
    // Together: what was left of them would pass for whole.
    store.transaction(() => {
      for (const name of FtsTables.names(store.db)) new FtsTables(store.db, name).drop()
    })
  }

  readonly termsInMemory = 0

  addChunks(chunks: readonly TermChunk[]): void {
    for (const { id, terms } of chunks) this.#ofPage(this.#catalog.pageOf(id)).add('chunk', id, terms)
  }

  removeChunks(page: StoredPage, count: number): void {
    const end = page.firstChunk + page.lengths.length
    for (let id = end - count; id < end; id++) this.#ofPage(page.id).remove('chunk', id)
    this.#store.noteRemoved(page, count)
  }

  addPage(id: number): void {
    const { from, to } = this.#catalog.chunkRange(id)
    this.#ofPage(id).add('page', id, Array.from(this.#store.termsOf(from, to), ({ terms }) => terms).join(''))
  }

  removePage({ id }: StoredPage): void {
    this.#ofPage(id).remove('page', id)
    this.#store.db.exec("INSERT OR REPLACE INTO removed (id, page, class, terms) VALUES (0, 0, 0, '')")
  }

  search(query: Query, visible: Visible, limit: number, deadline: Deadline, among = visible.pages): PageMatches {
    const found = new Map(everyLeafOf(query).map((leaf) => [leaf, this.#phrasesOf(leaf, visible)]))
    if (performance.now() + this.#effort([...found.values()], visible) > deadline) throw new SearchTimeout()
    const phrases = new Map(Array.from(found, ([leaf, { phrases }]) => [leaf, phrases]))
    const match = toMatch(query, phrases)
    const pages = this.#candidates('page', match, { ...visible, pages: among }, limit, deadline)
    const scoring = leavesOf(query).map((leaf) => ({ phrases: phrases.get(leaf) ?? [], weight: 1 }))
    const scored = this.#scorer.scorePages(this.#lists(scoring, pages, visible, deadline), visible, among)
    const isAll = among === visible.pages
    const total = isAll ? this.#count('page', match, visible, deadline) : undefined
    const matching = () => this.#matching(match, visible, among)
    return {
      pages: best(scored, limit, this.#catalog),
      total: total ?? matching().reduce((sum, matched) => sum + matched, 0),
      matching,
    }
  }

  retrieve(terms: readonly QuestionTerm[], visible: Visible, limit: number, deadline: Deadline): ScoredChunk[] {
    if (terms.length === 0) return []
    const match = anyOf(terms.map(({ term }) => term))
    const found = this.#candidates('chunk', match, visible, limit, deadline)
    const pages = [...new Set(found.map((chunk) => this.#catalog.pageOf(chunk)))]
    const sought = terms.map(({ term, weight }) => ({ phrases: [term], weight }))
    const candidates = new Set(found)
    const scored = this.#scorer.scoreChunks(this.#lists(sought, pages, visible, deadline), visible)
    return best(
      scored.filter(({ chunk }) => candidates.has(chunk)),
      limit,
      this.#catalog,
    )
  }

  chunksWith(term: string, visible: Visible): number {
    if (visible.isAll) return this.#postingsOf(term, visible)
    return this.#count('chunk', quote(term), visible, Number.POSITIVE_INFINITY)
  }

  similarTerms(word: string, maxEdits: number, visible: Visible): [term: string, chunkCount: number][] {
    const similar = new Set(this.#seenBy(visible).flatMap((tables) => tables.termsWithin(word, maxEdits)))
    return Array.from(similar, (term): [string, number] => [term, this.chunksWith(term, visible)]).filter(
      ([term, chunkCount]) => term !== boundary && chunkCount > 0,
    )
  }

  save(): void {
    this.#store.forgetSnapshot()
  }

  /** The tables that hold a page and its chunks. */
  #ofPage(id: number): FtsTables {
    const name = this.#catalog.classOf(id)
    const tables = this.#tables.get(name) ?? new FtsTables(this.#store.db, String(name))
    this.#tables.set(name, tables)
    return tables
  }

  #seenBy({ classes }: Visible): FtsTables[] {
    return [...this.#tables].flatMap(([name, tables]) => (classes[name] === 1 ? tables : []))
  }

  /** In how many chunks of the classes that are seen a term is, those of unfinished pages included. */
  #postingsOf(term: string, visible: Visible): number {
    return this.#seenBy(visible).reduce((sum, tables) => sum + tables.chunksWith(term), 0)
  }

  /** Milliseconds that looking for some phrases takes at least: FTS5 cannot be interrupted before its first row. */
  #effort(sought: readonly Phrases[], { chunkCount }: Visible): number {
    const count = sought.reduce((sum, { phrases }) => sum + phrases.length, 0)
    const postings = sought.reduce((sum, { postings: ofOne }) => sum + ofOne, 0)
    return perPosting * postings + perPhraseOfChunk * count * Math.min(postings, chunkCount)
  }

  /** The first visible rows of FTS5's ranking of each class. */
  #candidates(unit: Unit, match: string, visible: Visible, limit: number, deadline: Deadline): number[] {
    const wanted = limit + spareCandidates
    const found: number[] = []
    for (const tables of this.#seenBy(visible)) {
      let count = 0
      for (const id of tables.ranked(unit, match)) {
        if (!this.#isVisible(unit, id, visible)) continue
        found.push(id)
        if (++count === wanted) break
      }
      checkDeadline(deadline)
    }
    return found
  }

  /** How many visible rows match. */
  #count(unit: Unit, match: string, visible: Visible, deadline: Deadline): number {
    checkDeadline(deadline)
    const isWanted = !visible.isAll ? (id: number) => this.#isVisible(unit, id, visible) : undefined
    return this.#seenBy(visible).reduce((sum, tables) => sum + tables.count(unit, match, isWanted), 0)
  }

  /** 1 for every page among those given that matches, by id. */
  #matching(match: string, visible: Visible, among: Uint8Array): Uint8Array {
    const matching = new Uint8Array(visible.pages.length)
    for (const tables of this.#seenBy(visible)) {
      for (const page of tables.ranked('page', match)) matching[page] = among[page] ?? 0
    }
    return matching
  }

  #isVisible(unit: Unit, id: number, visible: Visible): boolean {
    return visible.pages[unit === 'page' ? id : this.#catalog.pageOf(id)] === 1
  }

  /** Where each of what is sought stands in the chunks of some pages. */
  #lists(sought: readonly Sought[], pages: readonly number[], visible: Visible, deadline: Deadline): PostingList[] {
    const lists = sought.map((one) => ({
      ...one,
      chunks: [] as number[],
      frequencies: [] as number[],
      chunkCount: this.#count('chunk', anyOf(one.phrases), visible, deadline),
      pageCount: this.#count('page', anyOf(one.phrases), visible, deadline),
    }))
    for (const page of pages) {
      checkDeadline(deadline)
      for (const id of this.#catalog.chunksOf(page)) {
        const { terms } = this.#store.terms(id)
        for (const { phrases, chunks, frequencies } of lists) {
          const frequency = phrases.reduce((sum, phrase) => sum + occurrences(terms, phrase), 0)
          if (frequency === 0) continue
          chunks.push(id)
          frequencies.push(frequency)
        }
      }
    }
    return lists
  }

  /** What a leaf stands for, any of it: terms, or terms one after the other. */
  #phrasesOf(leaf: Leaf, visible: Visible): Phrases {
    if (leaf.type === 'term') return { phrases: [leaf.term], postings: this.#postingsOf(leaf.term, visible) }
    if (leaf.type === 'phrase') {
      const counts = leaf.terms.map((term) => this.#postingsOf(term, visible))
      return { phrases: [leaf.terms.join(' ')], postings: Math.min(...counts) }
    }
    const counts = new Map<string, number>()
    for (const tables of this.#seenBy(visible)) {
      for (const [term, count] of tables.termsWithPrefix(leaf.prefix)) counts.set(term, (counts.get(term) ?? 0) + count)
    }
    const phrases = mostFrequent(counts)
    return { phrases, postings: phrases.reduce((sum, term) => sum + (counts.get(term) ?? 0), 0) }
  }

  /** Whether the store has gone on without this engine. */
  #isBehind(): boolean {
    const held = [...this.#tables.values()].reduce((sum, tables) => sum + tables.size('chunk'), 0)
    return held !== this.#catalog.chunkCount
  }

  #fill(): void {
    this.#store.transaction(() => {
      for (const tables of this.#tables.values()) tables.drop()
      this.#tables.clear()
      for (let page = 0; page < this.#catalog.pageEnd; page++) {
        const { from, to } = this.#catalog.chunkRange(page)
        this.addChunks([...this.#store.termsOf(from, to)])
        if (this.#catalog.isWhole(page)) this.addPage(page)
      }
    })
  }
}

/** A query in FTS5's own language. */
function toMatch(query: Query, phrases: ReadonlyMap<Query, readonly string[]>): string {
  if (query.type === 'or') return `(${query.queries.map((part) => toMatch(part, phrases)).join(' OR ')})`
  if (query.type === 'not') return toMatch(query.query, phrases)
  if (query.type !== 'and') return anyOf(phrases.get(query) ?? [])
  const wanted = query.queries.filter(({ type }) => type !== 'not').map((part) => toMatch(part, phrases))
  const unwanted = query.queries.filter(({ type }) => type === 'not').map((part) => toMatch(part, phrases))
  const matching = `(${wanted.join(' AND ')})`
  return unwanted.length === 0 ? matching : `(${matching} NOT (${unwanted.join(' OR ')}))`
}

/** Matches nothing where there are none: a boundary never follows another. */
function anyOf(phrases: readonly string[]): string {
  return phrases.length === 0 ? quote(`${boundary} ${boundary}`) : `(${phrases.map(quote).join(' OR ')})`
}

function quote(phrase: string): string {
  return `"${phrase.replaceAll('"', '""')}"`
}
