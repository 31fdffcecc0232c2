import { randomUUID } from 'node:crypto'
import type { DatabaseSync, SQLTagStore } from 'node:sqlite'
import type { DocumentKind } from '../../contract/search.ts'
import type { Chunk } from '../../knowledge/chunk.ts'
import type { ChunkTerms, TermPlaces } from './page-terms.ts'
import { isOfContent, openSound, removeFile } from './store-file.ts'

/** Raised whenever what is derived into the tables changes: an older file is emptied and filled again. */
const storeVersion = 4

/** A page as the tables hold it. */
export type StoredPage = {
  id: number
  key: string
  kind: DocumentKind
  version: string
  audience: readonly string[] | undefined
  tags: readonly string[]
  note: string | undefined
  chunks: StoredChunk[]
}

/** A chunk's place in the tables, and its length in terms. */
export type StoredChunk = { id: number; length: number }

export type NewPage = Omit<StoredPage, 'id' | 'chunks'> & {
  title: string
  chunks: readonly ChunkTerms[]
}

const tables = [
  'CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID, STRICT',
  `CREATE TABLE pages (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, version TEXT NOT NULL, title TEXT NOT NULL,
    audience TEXT, tags TEXT NOT NULL, note TEXT
  ) STRICT`,
  // terms: what the chunk is found by, in the order of the text; see pageTerms
  `CREATE TABLE chunks (
    id INTEGER PRIMARY KEY AUTOINCREMENT, page INTEGER NOT NULL, headings TEXT NOT NULL, content TEXT NOT NULL, text TEXT NOT NULL,
    terms TEXT NOT NULL, length INTEGER NOT NULL, own_at INTEGER NOT NULL,
    text_at INTEGER NOT NULL, offsets BLOB NOT NULL
  ) STRICT`,
  'CREATE INDEX chunks_by_page ON chunks (page, id)',
  // by chunk: names the text that its vector is of; see embeddedText. Apart from the texts, which are long to read over
  'CREATE TABLE hashes (chunk INTEGER PRIMARY KEY, hash BLOB NOT NULL) STRICT',
  // chunks that are gone since a snapshot was saved: what an engine must take out that begins with it
  'CREATE TABLE removed (id INTEGER PRIMARY KEY, terms TEXT NOT NULL) STRICT',
]

/**
 * The pages of one knowledge base with their chunks and terms, in a SQLite file: what every engine is built from, so that a
 * page is parsed and analysed once. It may be deleted at any time.
 */
export class IndexStore {
  readonly db: DatabaseSync
  readonly #sql: SQLTagStore

  /** @param analyser the version of the analyser: what another one made is forgotten, as is what is damaged. */
  constructor(file: string, analyser: string) {
    const made = `${storeVersion} ${analyser}`
    try {
      this.db = openMade(file, made)
    } catch (error) {
      if (!isOfContent(error)) throw error
      removeFile(file)
      this.db = openMade(file, made)
    }
    this.#sql = this.db.createTagStore(200)
  }

  /** Other after every change, whoever made it, and for every file that was ever made. */
  stamp(): string {
    return String(this.#sql.get`SELECT value FROM meta WHERE key = 'stamp'`?.value)
  }

  /** Within the transaction that changes something. */
  setStamp(stamp: string): void {
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

  /** Every page, by id. */
  *pages(): Generator<StoredPage> {
    const chunks = new Map<number, StoredChunk[]>()
    for (const { id, page, length } of this.db.prepare('SELECT id, page, length FROM chunks ORDER BY id').iterate()) {
      const ofPage = chunks.get(Number(page)) ?? []
      if (ofPage.length === 0) chunks.set(Number(page), ofPage)
      ofPage.push({ id: Number(id), length: Number(length) })
    }
    const rows = this.db.prepare('SELECT id, key, kind, version, audience, tags, note FROM pages ORDER BY id').iterate()
    for (const row of rows) {
      yield {
        id: Number(row.id),
        key: String(row.key),
        kind: row.kind as DocumentKind,
        version: String(row.version),
        audience: row.audience === null ? undefined : JSON.parse(String(row.audience)),
        tags: JSON.parse(String(row.tags)),
        note: row.note === null ? undefined : String(row.note),
        chunks: chunks.get(Number(row.id)) ?? [],
      }
    }
  }

  /** Adds a page under a free key. Within a transaction. */
  add({ chunks, ...page }: NewPage): StoredPage {
    const { key, kind, version, title, tags, audience, note } = page
    const added = this.#sql.run`INSERT INTO pages (key, kind, version, title, audience, tags, note)
      VALUES (${key}, ${kind}, ${version}, ${title}, ${audience === undefined ? null : JSON.stringify(audience)},
        ${JSON.stringify(tags)}, ${note ?? null})`
    const id = Number(added.lastInsertRowid)
    return { key, kind, version, tags, audience, note, id, chunks: this.addChunks(id, chunks) }
  }

  /** More chunks of a page. Within a transaction. */
  addChunks(page: number, chunks: readonly ChunkTerms[]): StoredChunk[] {
    return chunks.map(({ headings, content, text, terms, length, ownAt, textAt, offsets, hash }) => {
      const bytes = new Uint8Array(offsets.buffer, offsets.byteOffset, offsets.byteLength)
      const chunk = this.#sql
        .run`INSERT INTO chunks (page, headings, content, text, terms, length, own_at, text_at, offsets)
        VALUES (${page}, ${JSON.stringify(headings)}, ${content}, ${text}, ${terms}, ${length}, ${ownAt}, ${textAt}, ${bytes})`
      const id = Number(chunk.lastInsertRowid)
      this.#sql.run`INSERT INTO hashes (chunk, hash) VALUES (${id}, ${hash})`
      return { id, length }
    })
  }

  /** Within a transaction. */
  setVersion(page: number, version: string): void {
    this.#sql.run`UPDATE pages SET version = ${version} WHERE id = ${page}`
  }

  /** Within a transaction. */
  removeChunks(chunks: readonly { id: number }[]): void {
    for (const { id } of chunks) {
      this.#sql.run`INSERT INTO removed (id, terms) SELECT id, terms FROM chunks WHERE id = ${id}`
      this.#sql.run`DELETE FROM hashes WHERE chunk = ${id}`
      this.#sql.run`DELETE FROM chunks WHERE id = ${id}`
    }
  }

  /** Within a transaction. */
  remove(pageId: number): void {
    this.#sql.run`INSERT INTO removed (id, terms) SELECT id, terms FROM chunks WHERE page = ${pageId}`
    this.#sql.run`DELETE FROM hashes WHERE chunk IN (SELECT id FROM chunks WHERE page = ${pageId})`
    this.#sql.run`DELETE FROM chunks WHERE page = ${pageId}`
    this.#sql.run`DELETE FROM pages WHERE id = ${pageId}`
  }

  /** The hashes of at most `limit` chunks, in the order of their ids, of those beyond `after`. */
  hashes(after: number, limit: number): { chunk: number; hash: Uint8Array }[] {
    return this.#sql.all`SELECT chunk, hash FROM hashes WHERE chunk > ${after} ORDER BY chunk LIMIT ${limit}`.map(
      ({ chunk, hash }) => ({ chunk: Number(chunk), hash: hash instanceof Uint8Array ? hash : new Uint8Array() }),
    )
  }

  chunk(id: number): Chunk {
    const row = this.#sql.get`SELECT headings, content, text FROM chunks WHERE id = ${id}`
    return {
      headings: JSON.parse(String(row?.headings ?? '[]')),
      content: String(row?.content ?? ''),
      text: String(row?.text ?? ''),
    }
  }

  /** A chunk's text, and where its terms stand in it. */
  termPlaces(id: number): TermPlaces {
    const row = this.#sql.get`SELECT text, terms, own_at, text_at, offsets FROM chunks WHERE id = ${id}`
    return {
      text: String(row?.text ?? ''),
      terms: String(row?.terms ?? ''),
      ownAt: Number(row?.own_at ?? 0),
      textAt: Number(row?.text_at ?? 0),
      offsets: new Uint32Array(row?.offsets instanceof Uint8Array ? row.offsets.slice().buffer : []),
    }
  }

  title(pageId: number): string {
    return String(this.#sql.get`SELECT title FROM pages WHERE id = ${pageId}`?.title ?? '')
  }

  /** The terms of a chunk; see `TermPlaces`. */
  terms(chunkId: number): { terms: string; ownAt: number } {
    const row = this.#sql.get`SELECT terms, own_at FROM chunks WHERE id = ${chunkId}`
    return { terms: String(row?.terms ?? ''), ownAt: Number(row?.own_at ?? 0) }
  }

  /** The terms of all chunks of a page, in the order of its text. */
  termsOfPage(page: number): string {
    return this.#sql.all`SELECT terms FROM chunks WHERE page = ${page} ORDER BY id`.map(({ terms }) => terms).join('')
  }

  /** The terms of every chunk, by id. */
  *allTerms(): Generator<{ id: number; page: number; terms: string }> {
    for (const { id, page, terms } of this.db.prepare('SELECT id, page, terms FROM chunks ORDER BY id').iterate()) {
      yield { id: Number(id), page: Number(page), terms: String(terms) }
    }
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

  /** The chunks that are gone since {@link noteSnapshot}. */
  removed(): { id: number; terms: string }[] {
    return this.#sql.all`SELECT id, terms FROM removed`.map(({ id, terms }) => ({
      id: Number(id),
      terms: String(terms),
    }))
  }

  /** The snapshot that {@link removed} goes on from. */
  snapshot(): string | undefined {
    const row = this.#sql.get`SELECT value FROM meta WHERE key = 'snapshot'`
    return row && String(row.value)
  }

  /** A snapshot was saved of what is stored now. Within a transaction. */
  noteSnapshot(id: string): void {
    this.forgetSnapshot()
    this.#sql.run`INSERT INTO meta (key, value) VALUES ('snapshot', ${id})`
  }

  /** Within a transaction. */
  forgetSnapshot(): void {
    this.#sql.run`DELETE FROM meta WHERE key = 'snapshot'`
    this.#sql.run`DELETE FROM removed`
  }

  close(): void {
    if (this.db.isOpen) this.db.close()
  }
}

/** A file with the tables as `made` says; what another version made is emptied. */
function openMade(file: string, made: string): DatabaseSync {
  const db = openSound(file)
  try {
    if (!isMade(db, made)) make(db, made)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

function isMade(db: DatabaseSync, made: string): boolean {
  const held = new Set(
    db
      .prepare('SELECT sql FROM sqlite_schema')
      .all()
      .map(({ sql }) => sql),
  )
  if (!tables.every((statement) => held.has(statement))) return false
  return db.prepare("SELECT value FROM meta WHERE key = 'made'").get()?.value === made
}

function make(db: DatabaseSync, made: string): void {
  db.exec('BEGIN IMMEDIATE')
  // Another process may have been faster.
  if (!isMade(db, made)) {
    // A virtual table takes others with it.
    const names = db
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rootpage")
      .all()
    for (const { name } of names) db.exec(`DROP TABLE IF EXISTS "${name}"`)
    for (const statement of tables) db.exec(statement)
    db.prepare("INSERT INTO meta (key, value) VALUES ('made', ?), ('stamp', ?)").run(made, randomUUID())
  }
  db.exec('COMMIT')
}
