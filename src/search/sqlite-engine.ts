import type { DatabaseSync, SQLTagStore, StatementSync } from 'node:sqlite'
import { type Catalog, isUnfinished, type Visible } from './catalog.ts'
import type { IndexStore } from './index-store.ts'
import { boundary, occurrences } from './page-terms.ts'
import { everyLeafOf, type Leaf, leavesOf, type Query } from './query.ts'
import type { QuestionTerm } from './question.ts'
import { best, type PostingList, type ScoredChunk, Scorer } from './scorer.ts'
import { SearchTimeout } from './search-index.ts'
import {
  checkDeadline,
  type Deadline,
  mostFrequent,
  type PageMatches,
  type TermChunk,
  type TermEngine,
} from './term-engine.ts'

/**
 * What is analysed already is taken as it is: everything between spaces is a token. `contentless_delete` keeps no copy of the
 * terms, and takes a row out without one.
 */
const tables = `
  CREATE VIRTUAL TABLE IF NOT EXISTS page_terms USING fts5(
    terms, content = '', contentless_delete = 1,
    tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* P* S* Co'"
  );
  CREATE VIRTUAL TABLE IF NOT EXISTS chunk_terms USING fts5(
    terms, content = '', contentless_delete = 1,
    tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* P* S* Co'"
  );
  CREATE VIRTUAL TABLE IF NOT EXISTS page_vocabulary USING fts5vocab(page_terms, row);
  CREATE VIRTUAL TABLE IF NOT EXISTS chunk_vocabulary USING fts5vocab(chunk_terms, row);
`

/** How many more than asked for FTS5's own ranking hands over to ours, which sees only what is visible. */
const spareCandidates = 100

type Table = 'page_terms' | 'chunk_terms'
type Sought = { phrases: readonly string[]; weight: number }
/** Any of some phrases, and in how many chunks their words are, all together. */
type Phrases = { phrases: string[]; postings: number }

/** Milliseconds that FTS5 takes for each posting, and for each chunk and phrase: measured, and rather too little. */
const perPosting = 2e-4
const perPhraseOfChunk = 2e-5

/** Postings on disk, in SQLite's FTS5: the engine for knowledge bases that outgrow the heap. */
export class SqliteEngine implements TermEngine {
  readonly #catalog: Catalog
  readonly #store: IndexStore
  readonly #db: DatabaseSync
  readonly #sql: SQLTagStore
  readonly #scorer: Scorer
  readonly #removePage: StatementSync
  readonly #removeChunk: StatementSync

  constructor(catalog: Catalog, store: IndexStore) {
    this.#catalog = catalog
    this.#store = store
    this.#db = store.db
    this.#scorer = new Scorer(catalog)
    this.#db.exec(tables)
    this.#sql = this.#db.createTagStore(100)
    this.#removePage = this.#db.prepare('DELETE FROM page_terms WHERE rowid = ?')
    this.#removeChunk = this.#db.prepare('DELETE FROM chunk_terms WHERE rowid = ?')
    // FTS5 marks what it deletes with row ids beyond 2^53, which node would refuse to tell.
    for (const statement of [this.#removePage, this.#removeChunk]) statement.setReadBigInts(true)
    if (this.#isBehind()) this.#fill()
  }

  /** Forgets what it holds, where another engine goes on. */
  static drop(store: IndexStore): void {
    // Together: what was left of them would pass for whole.
    store.transaction(() => {
      for (const table of ['page_vocabulary', 'chunk_vocabulary', 'page_terms', 'chunk_terms']) {
        store.db.exec(`DROP TABLE IF EXISTS ${table}`)
      }
    })
  }

  readonly termsInMemory = 0

  addChunks(chunks: readonly TermChunk[]): void {
    for (const { id, terms } of chunks) this.#sql.run`INSERT INTO chunk_terms (rowid, terms) VALUES (${id}, ${terms})`
  }

  removeChunks(chunks: readonly { id: number }[]): void {
    for (const { id } of chunks) this.#removeChunk.run(id)
  }

  addPage(id: number, terms: string): void {
    this.#sql.run`INSERT INTO page_terms (rowid, terms) VALUES (${id}, ${terms})`
  }

  removePage(id: number): void {
    this.#removePage.run(id)
  }

  search(query: Query, visible: Visible, limit: number, deadline: Deadline): PageMatches {
    const found = new Map(everyLeafOf(query).map((leaf) => [leaf, this.#phrasesOf(leaf)]))
    if (performance.now() + this.#effort([...found.values()]) > deadline) throw new SearchTimeout()
    const phrases = new Map(Array.from(found, ([leaf, { phrases }]) => [leaf, phrases]))
    const match = toMatch(query, phrases)
    const pages = this.#candidates('page_terms', match, visible, limit, deadline)
    const scoring = leavesOf(query).map((leaf) => ({ phrases: phrases.get(leaf) ?? [], weight: 1 }))
    const scored = this.#scorer.scorePages(this.#lists(scoring, pages, visible, deadline), visible)
    const one = this.#db.prepare('SELECT 1 FROM page_terms WHERE page_terms MATCH ? AND rowid = ?')
    return {
      pages: best(scored, limit, this.#catalog),
      total: this.#count('page_terms', match, visible, deadline),
      // As an integer: FTS5 passes over a bound that is none.
      includes: (page) => one.get(match, BigInt(page)) !== undefined,
    }
  }

  retrieve(terms: readonly QuestionTerm[], visible: Visible, limit: number, deadline: Deadline): ScoredChunk[] {
    if (terms.length === 0) return []
    const match = anyOf(terms.map(({ term }) => term))
    const found = this.#candidates('chunk_terms', match, visible, limit, deadline)
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
    if (visible.isAll) return this.#chunksWith(term)
    return this.#count('chunk_terms', quote(term), visible, Number.POSITIVE_INFINITY)
  }

  save(): void {
    this.#store.forgetSnapshot()
  }

  #chunksWith(term: string): number {
    return Number(this.#sql.get`SELECT doc FROM chunk_vocabulary WHERE term = ${term}`?.doc ?? 0)
  }

  /** Milliseconds that looking for some phrases takes at least: FTS5 cannot be interrupted before its first row. */
  #effort(sought: readonly Phrases[]): number {
    const count = sought.reduce((sum, { phrases }) => sum + phrases.length, 0)
    const postings = sought.reduce((sum, { postings: ofOne }) => sum + ofOne, 0)
    return perPosting * postings + perPhraseOfChunk * count * Math.min(postings, this.#catalog.chunkCount)
  }

  /** The first visible rows of FTS5's ranking. */
  #candidates(table: Table, match: string, visible: Visible, limit: number, deadline: Deadline): number[] {
    const wanted = limit + spareCandidates
    const found: number[] = []
    for (const id of this.#rows(`SELECT rowid FROM ${table} WHERE ${table} MATCH ? ORDER BY rank`, match)) {
      if (this.#isVisible(table, id, visible)) found.push(id)
      if (found.length === wanted) break
    }
    checkDeadline(deadline)
    return found
  }

  /** How many visible rows match. */
  #count(table: Table, match: string, visible: Visible, deadline: Deadline): number {
    checkDeadline(deadline)
    if (visible.isAll) {
      const row =
        table === 'page_terms'
          ? this.#sql.get`SELECT count(*) AS count FROM page_terms WHERE page_terms MATCH ${match}`
          : this.#sql.get`SELECT count(*) AS count FROM chunk_terms WHERE chunk_terms MATCH ${match}`
      return Number(row?.count)
    }
    let count = 0
    for (const id of this.#rows(`SELECT rowid FROM ${table} WHERE ${table} MATCH ?`, match)) {
      if (this.#isVisible(table, id, visible)) count++
    }
    return count
  }

  *#rows(sql: string, match: string): Generator<number> {
    for (const { rowid } of this.#db.prepare(sql).iterate(match)) yield Number(rowid)
  }

  #isVisible(table: Table, id: number, visible: Visible): boolean {
    return visible.pages[table === 'page_terms' ? id : this.#catalog.pageOf(id)] === 1
  }

  /** Where each of what is sought stands in the chunks of some pages. */
  #lists(sought: readonly Sought[], pages: readonly number[], visible: Visible, deadline: Deadline): PostingList[] {
    const lists = sought.map((one) => ({
      ...one,
      chunks: [] as number[],
      frequencies: [] as number[],
      chunkCount: this.#count('chunk_terms', anyOf(one.phrases), visible, deadline),
      pageCount: this.#count('page_terms', anyOf(one.phrases), visible, deadline),
    }))
    for (const page of pages) {
      checkDeadline(deadline)
      for (const { id } of this.#catalog.page(page).chunks) {
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
  #phrasesOf(leaf: Leaf): Phrases {
    if (leaf.type === 'term') return { phrases: [leaf.term], postings: this.#chunksWith(leaf.term) }
    if (leaf.type === 'phrase') {
      const counts = leaf.terms.map((term) => this.#chunksWith(term))
      return { phrases: [leaf.terms.join(' ')], postings: Math.min(...counts) }
    }
    const rows = this.#sql.all`SELECT term, doc FROM chunk_vocabulary
      WHERE term >= ${leaf.prefix} AND term < ${`${leaf.prefix}\u{10ffff}`}`
    const counts = new Map(rows.map(({ term, doc }): [string, number] => [String(term), Number(doc)]))
    const phrases = mostFrequent(counts)
    return { phrases, postings: phrases.reduce((sum, term) => sum + (counts.get(term) ?? 0), 0) }
  }

  /** Whether the store has gone on without this engine. */
  #isBehind(): boolean {
    const { held, stored } =
      this.#db
        .prepare('SELECT (SELECT count(*) FROM chunk_terms) AS held, (SELECT count(*) FROM chunks) AS stored')
        .get() ?? {}
    return held !== stored
  }

  #fill(): void {
    this.#store.transaction(() => {
      for (const table of ['page_terms', 'chunk_terms'])
        this.#db.exec(`INSERT INTO ${table} (${table}) VALUES ('delete-all')`)
      for (const page of this.#catalog.pages()) {
        const chunks = page.chunks.map(({ id }) => ({ id, terms: this.#store.terms(id).terms }))
        this.addChunks(chunks)
        if (!isUnfinished(page)) this.addPage(page.id, chunks.map(({ terms }) => terms).join(''))
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
