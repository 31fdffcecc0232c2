import type { DatabaseSync, SQLOutputValue, SQLTagStore, StatementSync } from 'node:sqlite'
import type { DocumentKind } from '../../contract/enumerations.ts'
import { type Access, accessClass } from '../../rules/access/audience.ts'
import type { PageFacts } from '../query/filters.ts'
import type { IndexedDocument } from '../search-index.ts'
import { ChunkRows, ofArrays, RemovedChunks } from './chunk-rows.ts'
import type { ChunkTerms } from './page-terms.ts'
import { transaction } from './store-file.ts'
import { openStore, type StoredPage } from './store-tables.ts'

/** Prefix of the version of a page that lacks chunks. Such a page is not visible. */
export const unfinished = 'unfinished '

/** Class of pages that the same readers see; see `accessClass`. `audience` and `tags` are those of one of its pages. */
export type PageClass = Access & { id: number; name: string; kind: DocumentKind }

export type NewPage = Omit<IndexedDocument, 'chunks'>

/** Returns the facts that filters test. */
export function factsOf({ title, path = '', tags, changedAt = '' }: NewPage): PageFacts {
  return { title, path, tags, changedAt }
}

/**
 * The pages of one knowledge base with their chunks and terms, in a SQLite file. Engines are built from it, so that a page is
 * parsed and analysed once. The file may be deleted at any time.
 */
export class IndexStore {
  readonly db: DatabaseSync
  readonly #sql: SQLTagStore
  readonly chunks: ChunkRows
  readonly removedChunks: RemovedChunks
  readonly #begin: StatementSync
  readonly #commit: StatementSync
  readonly #find: StatementSync
  readonly #insertPage: StatementSync
  readonly #insertChunk: StatementSync
  readonly #insertHash: StatementSync
  readonly #classes = new Map<string, PageClass>()
  readonly #below: IndexStore | undefined
  /** Next unused chunk id. */
  nextChunk: number

  /**
   * Opens the store. Data of another analyser version is discarded, as is damaged data.
   * @param analyser its version
   * @param below a store whose pages and chunks are read as if they were here; see {@link over}
   */
  constructor(file: string, analyser: string, below?: IndexStore) {
    this.db = openStore(file, analyser)
    this.#below = below
    this.#sql = this.db.createTagStore(200)
    this.removedChunks = new RemovedChunks(this.db, this.#sql)
    this.#begin = this.db.prepare('BEGIN')
    this.#commit = this.db.prepare('COMMIT')
    this.chunks = new ChunkRows(this.db, below && { rows: below.chunks, end: below.nextChunk })
    this.#find = ofArrays(this.db.prepare('SELECT id, version FROM pages WHERE key = ?'))
    this.#insertPage = this.db.prepare(`INSERT INTO pages (key, version, title, path, tags, changed_at, note)
      VALUES (?, ?, ?, ?, ?, ?, ?)`)
    this.#insertChunk =
      this.db.prepare(`INSERT INTO chunks (id, terms, own_at, text_at, offsets, headings, text, content)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)`)
    this.#insertHash = this.db.prepare('INSERT INTO hashes (chunk, hash) VALUES (?, ?)')
    const next = this.#sql.get`SELECT value FROM meta WHERE key = 'next_chunk'`
    this.nextChunk = below?.nextChunk ?? Number(next?.value ?? 1)
    if (below !== undefined) this.#continue(below)
    for (const known of this.classes()) this.#classes.set(known.name, known)
  }

  /** Creates a store in memory for a layer over another store. Its ids follow all that the other has used. */
  static over(below: IndexStore, analyser: string): IndexStore {
    return new IndexStore(':memory:', analyser, below)
  }

  #continue(below: IndexStore): void {
    const last = below.#sql.get`SELECT seq FROM sqlite_sequence WHERE name = 'pages'`?.seq ?? 0
    this.#sql.run`INSERT INTO sqlite_sequence (name, seq) VALUES ('pages', ${last})`
    for (const { id, name, kind, audience, tags } of below.#classes.values()) {
      this.#sql.run`INSERT INTO classes (id, name, kind, audience, tags)
        VALUES (${id}, ${name}, ${kind}, ${audience === undefined ? null : JSON.stringify(audience)}, ${JSON.stringify(tags)})`
    }
  }

  /** Returns the stamp, which differs after every change by any process, and between files. */
  stamp(): string {
    return String(this.#sql.get`SELECT value FROM meta WHERE key = 'stamp'`?.value)
  }

  /** Returns the number of pages after the last change. */
  pageCount(): number {
    return Number(this.#sql.get`SELECT value FROM meta WHERE key = 'page_count'`?.value ?? 0)
  }

  /** Completes a change. Must run within its transaction. */
  setStamp(stamp: string, pageCount: number): void {
    this.#sql.run`INSERT OR REPLACE INTO meta (key, value) VALUES ('page_count', ${String(pageCount)})`
    this.#sql.run`INSERT OR REPLACE INTO meta (key, value) VALUES ('next_chunk', ${String(this.nextChunk)})`
    this.#sql.run`INSERT OR REPLACE INTO meta (key, value) VALUES ('stamp', ${stamp})`
  }

  /** Runs work in a transaction, which is rolled back if the work throws. */
  transaction<Result>(work: () => Result): Result {
    return transaction(this.db, work)
  }

  /** Runs reads in one transaction, which spares each statement the locks of its own. */
  reading<Result>(work: () => Result): Result {
    this.#begin.run()
    try {
      return this.#below === undefined ? work() : this.#below.reading(work)
    } finally {
      if (this.db.isTransaction) this.#commit.run()
    }
  }

  /** Returns all classes of pages, current and past. */
  classes(): PageClass[] {
    return this.#sql.all`SELECT id, name, kind, audience, tags FROM classes`.map((row) => ({
      id: Number(row.id),
      name: String(row.name),
      kind: row.kind as DocumentKind,
      audience: row.audience === null ? undefined : JSON.parse(String(row.audience)),
      tags: JSON.parse(String(row.tags)),
    }))
  }

  /** Yields the blocks of the catalog; see `packPages`. */
  *blocks(): Generator<Uint8Array> {
    for (const { pages } of this.db.prepare('SELECT pages FROM catalog ORDER BY block').iterate()) {
      yield pages instanceof Uint8Array ? pages : new Uint8Array()
    }
  }

  /** Stores a block of the catalog. Must run within a transaction. */
  setBlock(block: number, pages: Uint8Array): void {
    this.#sql.run`INSERT OR REPLACE INTO catalog (block, pages) VALUES (${block}, ${pages})`
  }

  /** Yields the facts of every page, by id. */
  *facts(): Generator<[id: number, facts: PageFacts]> {
    if (this.#below !== undefined) yield* this.#below.facts()
    for (const row of this.db.prepare('SELECT id, title, path, tags, changed_at FROM pages').iterate()) {
      const { title, path, tags, changed_at: changedAt } = row
      const facts = { title: String(title), path: String(path), changedAt: String(changedAt) }
      yield [Number(row.id), { ...facts, tags: JSON.parse(String(tags)) }]
    }
  }

  find(key: string): { id: number; version: string } | undefined {
    const row = this.#find.get(key)
    return row === undefined ? this.#below?.find(key) : { id: Number(row[0]), version: String(row[1]) }
  }

  /** Returns the versions of at most `limit` pages with keys after `after`, ordered by the UTF-8 bytes of their keys. */
  versions(after: string, limit: number): [key: string, version: string][] {
    const rows = this.#sql.all`SELECT key, version FROM pages WHERE key > ${after} ORDER BY key LIMIT ${limit}`
    return rows.map(({ key, version }) => [String(key), String(version)])
  }

  /** Returns shared notes, by page id. */
  notes(): Map<number, string> {
    const rows = this.#sql.all`SELECT id, note FROM pages WHERE note IS NOT NULL`
    return new Map(rows.map(({ id, note }) => [Number(id), String(note)]))
  }

  /** Adds a page under a free key, and reserves ids for `maxChunks` chunks. Must run within a transaction. */
  add(page: NewPage, maxChunks: number): { page: StoredPage; class: PageClass } {
    const { key, version, title, note } = page
    const ofPage = this.#classFor(page)
    const firstChunk = this.nextChunk
    this.nextChunk += maxChunks
    const { path, tags, changedAt } = factsOf(page)
    const added = this.#insertPage.run(key, version, title, path, JSON.stringify(tags), changedAt, note ?? null)
    const id = Number(added.lastInsertRowid)
    return { page: { id, key, version, class: ofPage.id, firstChunk, lengths: new Uint32Array() }, class: ofPage }
  }

  /** Appends chunks to a page. Must run within a transaction. @returns the page with them */
  addChunks(page: StoredPage, chunks: readonly ChunkTerms[]): StoredPage {
    let id = page.firstChunk + page.lengths.length
    for (const { headings, content, text, terms, ownAt, textAt, offsets, hash } of chunks) {
      const ownText = text === content ? null : text
      this.#insertChunk.run(id, terms, ownAt, textAt, offsets, JSON.stringify(headings), ownText, content)
      this.#insertHash.run(id++, hash)
    }
    return { ...page, lengths: Uint32Array.from([...page.lengths, ...chunks.map(({ length }) => length)]) }
  }

  /** Changes the version of a page. Must run within a transaction. */
  setVersion(page: number, version: string): void {
    this.#sql.run`UPDATE pages SET version = ${version} WHERE id = ${page}`
  }

  /** Removes the last chunks of a page. Must run within a transaction. @returns the page without them */
  removeLastChunks(page: StoredPage, count: number): StoredPage {
    const left = page.lengths.slice(0, -count)
    this.#removeChunks(page.firstChunk + left.length, page.firstChunk + page.lengths.length)
    return { ...page, lengths: left }
  }

  /** Removes a page with its chunks. Must run within a transaction. */
  remove({ id, firstChunk, lengths }: StoredPage): void {
    this.#removeChunks(firstChunk, firstChunk + lengths.length)
    this.#sql.run`DELETE FROM pages WHERE id = ${id}`
  }

  /** Returns the hashes of at most `limit` chunks, in the order of insertion, after the entry `after`. */
  hashes(after: number, limit: number): { id: number; chunk: number; hash: Uint8Array }[] {
    const rows = this.#sql.all`SELECT id, chunk, hash FROM hashes WHERE id > ${after} ORDER BY id LIMIT ${limit}`
    return rows.map(({ id, chunk, hash }) => ({
      id: Number(id),
      chunk: Number(chunk),
      hash: hash instanceof Uint8Array ? hash : new Uint8Array(),
    }))
  }

  title(pageId: number): string {
    return String(
      this.#sql.get`SELECT title FROM pages WHERE id = ${pageId}`?.title ?? this.#below?.title(pageId) ?? '',
    )
  }

  *termsOf(from: number, to: number): Generator<{ id: number; terms: string }> {
    const rows = this.db.prepare('SELECT id, terms FROM chunks WHERE id >= ? AND id < ? ORDER BY id')
    for (const { id, terms } of rows.iterate(from, to)) yield { id: Number(id), terms: String(terms) }
  }

  /** Returns the number of chunks noted by {@link noteOutgrown}. */
  outgrownAt(): number | undefined {
    const row = this.#sql.get`SELECT value FROM meta WHERE key = 'outgrown'`
    return row && Number(row.value)
  }

  /** Notes that the index outgrew the memory. @param chunkCount undefined if it fits into memory again */
  noteOutgrown(chunkCount: number | undefined): void {
    if (chunkCount === undefined) this.#sql.run`DELETE FROM meta WHERE key = 'outgrown'`
    else this.#sql.run`INSERT OR REPLACE INTO meta (key, value) VALUES ('outgrown', ${String(chunkCount)})`
  }

  close(): void {
    if (this.db.isOpen) this.db.close()
  }

  #classFor({ kind, audience, tags }: NewPage): PageClass {
    const name = `${kind}_${accessClass({ audience, tags })}`
    const known = this.#classes.get(name)
    if (known !== undefined) return known
    const listed = audience === undefined ? null : JSON.stringify(audience)
    const added = this.#sql.run`INSERT INTO classes (name, kind, audience, tags)
      VALUES (${name}, ${kind}, ${listed}, ${JSON.stringify(tags)})`
    const made = { id: Number(added.lastInsertRowid), name, kind, audience, tags }
    this.#classes.set(name, made)
    return made
  }

  #removeChunks(from: number, to: number): void {
    this.#sql.run`DELETE FROM hashes WHERE chunk >= ${from} AND chunk < ${to}`
    this.#sql.run`DELETE FROM chunks WHERE id >= ${from} AND id < ${to}`
  }
}

export function bytesOf(integers: Uint32Array): Uint8Array {
  return new Uint8Array(integers.buffer, integers.byteOffset, integers.byteLength)
}

export function integersOf(bytes: SQLOutputValue | undefined): Uint32Array {
  return new Uint32Array(bytes instanceof Uint8Array ? bytes.slice().buffer : [])
}
