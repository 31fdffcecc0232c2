import type { DatabaseSync, SQLOutputValue, SQLTagStore, StatementSync } from 'node:sqlite'
import { LRUCache } from 'lru-cache'
import type { Chunk } from '../../rules/neurons/chunk.ts'
import { TermTable } from '../text/term-table.ts'
import { type TermPlaces, unpackOffsets } from './page-terms.ts'
import type { StoredPage } from './store-tables.ts'
import { countTerms, type TermCounts } from './term-counts.ts'

/** Maximum bytes of cached rows of all indexes, approximately. */
const maxSize = 16 * 2 ** 20
/** Approximate bytes of a row besides its texts. */
const rowSize = 300

/** Upper bound of chunk ids. */
const idsPerIndex = 2 ** 31

/** Cached rows, by the number of the index and the id of the chunk. */
const kept = new LRUCache<number, TermPlaces>({ maxSize, sizeCalculation: sizeOf })
let indexes = 0

/** Counts of the terms in a chunk. `isCode`: the chunk is fenced code. */
type CountedChunk = TermCounts & { isCode: boolean }
/** Cached counts by the same key, and the terms that they number: questions often share candidates. */
const counted = new LRUCache<number, CountedChunk>({
  ...{ maxSize, sizeCalculation: ({ terms }: CountedChunk) => rowSize + 9 * terms.length },
})
const maxVocabulary = 500_000
let vocabulary = new TermTable()

/** Returns the terms that {@link ChunkRows.termCounts} numbers from now on, until the next call. */
export function countedVocabulary(): TermTable {
  if (vocabulary.terms.length > maxVocabulary) {
    vocabulary = new TermTable()
    counted.clear()
  }
  return vocabulary
}

/**
 * Reads rows of chunks, and caches those that excerpts are made from: queries often share their best pages. A row never changes,
 * and ids are not reused while an index is open.
 */
export class ChunkRows {
  readonly #index = ++indexes
  readonly #below: { rows: ChunkRows; end: number } | undefined
  readonly #selectChunk: StatementSync
  readonly #selectPlaces: StatementSync
  readonly #selectTerms: StatementSync

  /** Prepares the statements. @param below reads the chunks with ids before `end` */
  constructor(db: DatabaseSync, below?: { rows: ChunkRows; end: number }) {
    this.#below = below
    const prepare = (columns: string) => ofArrays(db.prepare(`SELECT ${columns} FROM chunks WHERE id = ?`))
    this.#selectChunk = prepare('headings, content, coalesce(text, content)')
    this.#selectPlaces = prepare('coalesce(text, content), terms, own_at, text_at, offsets')
    const fences = "('```', '~~~')"
    this.#selectTerms = prepare(
      `terms, own_at, substr(content, 1, 3) IN ${fences} AND substr(content, -3) IN ${fences}`,
    )
  }

  chunk(id: number): Chunk {
    const below = this.#rowsBelow(id)
    if (below !== undefined) return below.chunk(id)
    const { 0: headings, 1: content, 2: text } = this.#selectChunk.get(id) ?? {}
    return { headings: JSON.parse(String(headings ?? '[]')), content: String(content ?? ''), text: String(text ?? '') }
  }

  /** Returns the text of a chunk and the offsets of its terms. */
  termPlaces(id: number): TermPlaces {
    const below = this.#rowsBelow(id)
    if (below !== undefined) return below.termPlaces(id)
    const key = this.#keyOf(id)
    const known = kept.get(key)
    if (known !== undefined) return known
    const { 0: text, 1: terms, 2: ownAt, 3: textAt, 4: offsets } = this.#selectPlaces.get(id) ?? {}
    const places = {
      text: String(text ?? ''),
      terms: String(terms ?? ''),
      ownAt: Number(ownAt ?? 0),
      textAt: Number(textAt ?? 0),
      offsets: unpackOffsets(offsets instanceof Uint8Array ? offsets : new Uint8Array()),
    }
    kept.set(key, places)
    return places
  }

  /** Returns the terms of a chunk; see `TermPlaces`. `isCode`: the chunk is fenced code. */
  terms(id: number): Pick<TermPlaces, 'terms' | 'ownAt'> & { isCode: boolean } {
    const below = this.#rowsBelow(id)
    if (below !== undefined) return below.terms(id)
    const { 0: terms, 1: ownAt, 2: isCode } = this.#selectTerms.get(id) ?? {}
    return { terms: String(terms ?? ''), ownAt: Number(ownAt ?? 0), isCode: isCode === 1 }
  }

  /** Returns the counts of a chunk's terms, by {@link countedVocabulary}. */
  termCounts(id: number): CountedChunk {
    const below = this.#rowsBelow(id)
    if (below !== undefined) return below.termCounts(id)
    const known = counted.get(this.#keyOf(id))
    if (known !== undefined) return known
    const { terms, ownAt, isCode } = this.terms(id)
    const counts = { ...countTerms(terms, ownAt, vocabulary), isCode }
    counted.set(this.#keyOf(id), counts)
    return counts
  }

  #rowsBelow(id: number): ChunkRows | undefined {
    return this.#below !== undefined && id < this.#below.end ? this.#below.rows : undefined
  }

  #keyOf(id: number): number {
    return this.#index * idsPerIndex + id
  }
}

function sizeOf({ text, terms, offsets }: TermPlaces): number {
  return rowSize + 2 * text.length + terms.length + offsets.buffer.byteLength
}

/** Makes a statement return rows as arrays, which takes half of the time. For rows read a hundred times for one answer. */
export function ofArrays(statement: StatementSync): StatementSync {
  statement.setReturnArrays(true)
  return statement
}

/** A removed chunk, with its page and that page's class. */
type RemovedChunk = { id: number; page: number; class: number; terms: string }

/** Removed chunks that are still in the files of an engine. */
export class RemovedChunks {
  readonly #db: DatabaseSync
  readonly #sql: SQLTagStore

  constructor(db: DatabaseSync, sql: SQLTagStore) {
    this.#db = db
    this.#sql = sql
  }

  /** Stores the terms of a page's last chunks, before they are removed. Must run within a transaction. */
  note({ id, class: ofPage, firstChunk, lengths }: StoredPage, count: number): void {
    const end = firstChunk + lengths.length
    this.#sql.run`INSERT OR IGNORE INTO removed (id, page, class, terms)
      SELECT id, ${id}, ${ofPage}, terms FROM chunks WHERE id >= ${end - count} AND id < ${end}`
  }

  /** Yields all removed chunks, by id. */
  *all(): Generator<RemovedChunk> {
    for (const row of this.#db.prepare('SELECT id, page, class, terms FROM removed ORDER BY id').iterate()) {
      yield toRemoved(row)
    }
  }

  /** Returns the removed chunks of a page, by id. */
  of(page: number): RemovedChunk[] {
    return this.#sql.all`SELECT id, page, class, terms FROM removed WHERE page = ${page} ORDER BY id`.map(toRemoved)
  }

  /** Deletes the removed chunks of a page. Must run within a transaction. */
  forget(page: number): void {
    this.#sql.run`DELETE FROM removed WHERE page = ${page}`
  }

  /** Returns the id of the snapshot that still contains removed chunks. */
  snapshot(): string | undefined {
    const row = this.#sql.get`SELECT value FROM meta WHERE key = 'snapshot'`
    return row && String(row.value)
  }

  /** Notes that a snapshot contains all that is stored now. Must run within a transaction. */
  noteSnapshot(id: string): void {
    this.forgetSnapshot()
    this.#sql.run`INSERT INTO meta (key, value) VALUES ('snapshot', ${id})`
  }

  /** Deletes the snapshot's id and all removed chunks. Must run within a transaction. */
  forgetSnapshot(): void {
    this.#sql.run`DELETE FROM meta WHERE key = 'snapshot'`
    this.#sql.run`DELETE FROM removed`
  }
}

function toRemoved({ id, page, class: ofPage, terms }: Record<string, SQLOutputValue>): RemovedChunk {
  return { id: Number(id), page: Number(page), class: Number(ofPage), terms: String(terms) }
}
