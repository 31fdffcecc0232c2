import type { DatabaseSync, SQLOutputValue, SQLTagStore, StatementSync } from 'node:sqlite'
import type { DocumentKind } from '../../contract/enumerations.ts'
import { type Access, accessClass } from '../../rules/access/audience.ts'
import type { PageFacts } from '../query/filters.ts'
import type { IndexedDocument } from '../search-index.ts'
import { ChunkRows, ofArrays } from './chunk-rows.ts'
import type { ChunkTerms } from './page-terms.ts'
import { RemovedChunks } from './removed-chunks.ts'
import { openStore, type StoredPage } from './store-tables.ts'

/** Begins the version of a page that does not have all of its chunks yet, or any more. Such a page is not visible. */
export const unfinished = 'unfinished '

/** Pages that the same readers see: see `accessClass`. `audience` and `tags` are those of one of them. */
export type PageClass = Access & { id: number; name: string; kind: DocumentKind }

export type NewPage = Omit<IndexedDocument, 'chunks'>

/** What filters ask for of a page. */
export function factsOf({ title, path = '', tags, changedAt = '' }: NewPage): PageFacts {
  return { title, path, tags, changedAt }
}

/**
 * The pages of one knowledge base with their chunks and terms, in a SQLite file: what every engine is built from, so that a
 * page is parsed and analysed once. It may be deleted at any time.
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
  /** The first id that no chunk has had. */
  nextChunk: number

  /**
   * @param analyser the version of the analyser: what another one made is forgotten, as is what is damaged.
   * @param below a store whose pages and chunks are read as if they were here too; see {@link over}
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

  /** A store in memory, of pages that are laid over those of another as it is now. Their ids are behind all that the other has had. */
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

  /** Other after every change, whoever made it, and for every file that was ever made. */
  stamp(): string {
    return String(this.#sql.get`SELECT value FROM meta WHERE key = 'stamp'`?.value)
  }

  /** How many pages there were at the end of the last change. */
  pageCount(): number {
    return Number(this.#sql.get`SELECT value FROM meta WHERE key = 'page_count'`?.value ?? 0)
  }

  /** Ends the transaction of a change. */
  setStamp(stamp: string, pageCount: number): void {
    this.#sql.run`INSERT OR REPLACE INTO meta (key, value) VALUES ('page_count', ${String(pageCount)})`
    this.#sql.run`INSERT OR REPLACE INTO meta (key, value) VALUES ('next_chunk', ${String(this.nextChunk)})`
    this.#sql.run`INSERT OR REPLACE INTO meta (key, value) VALUES ('stamp', ${stamp})`
  }

  /** All of it, or nothing where it throws. */
  transaction(work: () => void): void {
    this.db.exec('BEGIN IMMEDIATE')
    try {
      work()
      this.db.exec('COMMIT')
    } catch (error) {
      if (this.db.isTransaction) this.db.exec('ROLLBACK')
      throw error
    }
  }

  /** Reads of one state of the file, which spares each statement the locks of a transaction of its own. */
  reading<Result>(work: () => Result): Result {
    this.#begin.run()
    try {
      return this.#below === undefined ? work() : this.#below.reading(work)
    } finally {
      if (this.db.isTransaction) this.#commit.run()
    }
  }

  /** Every class of pages that there ever was. */
  classes(): PageClass[] {
    return this.#sql.all`SELECT id, name, kind, audience, tags FROM classes`.map((row) => ({
      id: Number(row.id),
      name: String(row.name),
      kind: row.kind as DocumentKind,
      audience: row.audience === null ? undefined : JSON.parse(String(row.audience)),
      tags: JSON.parse(String(row.tags)),
    }))
  }

  /** The blocks of the catalog; see `packPages`. */
  *blocks(): Generator<Uint8Array> {
    for (const { pages } of this.db.prepare('SELECT pages FROM catalog ORDER BY block').iterate()) {
      yield pages instanceof Uint8Array ? pages : new Uint8Array()
    }
  }

  /** Within a transaction. */
  setBlock(block: number, pages: Uint8Array): void {
    this.#sql.run`INSERT OR REPLACE INTO catalog (block, pages) VALUES (${block}, ${pages})`
  }

  /** What filters ask for of every page, by its id. */
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

  /** The versions of at most `limit` pages by key, of those behind a key, in the order of the keys' UTF-8 bytes. */
  versions(after: string, limit: number): [key: string, version: string][] {
    const rows = this.#sql.all`SELECT key, version FROM pages WHERE key > ${after} ORDER BY key LIMIT ${limit}`
    return rows.map(({ key, version }) => [String(key), String(version)])
  }

  /** The shared notes of users, by the id of the page. */
  notes(): Map<number, string> {
    const rows = this.#sql.all`SELECT id, note FROM pages WHERE note IS NOT NULL`
    return new Map(rows.map(({ id, note }) => [Number(id), String(note)]))
  }

  /** Adds a page under a free key, which will have so many chunks at most. Within a transaction. */
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

  /** Adds chunks behind those that a page has. Within a transaction. @returns the page with them */
  addChunks(page: StoredPage, chunks: readonly ChunkTerms[]): StoredPage {
    let id = page.firstChunk + page.lengths.length
    for (const { headings, content, text, terms, ownAt, textAt, offsets, hash } of chunks) {
      const ownText = text === content ? null : text
      this.#insertChunk.run(id, terms, ownAt, textAt, offsets, JSON.stringify(headings), ownText, content)
      this.#insertHash.run(id++, hash)
    }
    return { ...page, lengths: Uint32Array.from([...page.lengths, ...chunks.map(({ length }) => length)]) }
  }

  /** Within a transaction. */
  setVersion(page: number, version: string): void {
    this.#sql.run`UPDATE pages SET version = ${version} WHERE id = ${page}`
  }

  /** Removes the last chunks of a page. Within a transaction. @returns the page without them */
  removeLastChunks(page: StoredPage, count: number): StoredPage {
    const left = page.lengths.slice(0, -count)
    this.#removeChunks(page.firstChunk + left.length, page.firstChunk + page.lengths.length)
    return { ...page, lengths: left }
  }

  /** Within a transaction. */
  remove({ id, firstChunk, lengths }: StoredPage): void {
    this.#removeChunks(firstChunk, firstChunk + lengths.length)
    this.#sql.run`DELETE FROM pages WHERE id = ${id}`
  }

  /** The hashes of at most `limit` chunks, in the order in which they came, of those behind the `id` of another. */
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

  /** With how many chunks it outgrew the memory; see {@link noteOutgrown}. */
  outgrownAt(): number | undefined {
    const row = this.#sql.get`SELECT value FROM meta WHERE key = 'outgrown'`
    return row && Number(row.value)
  }

  /** @param chunkCount undefined: it fits into memory again. */
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
