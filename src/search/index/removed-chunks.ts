import type { DatabaseSync, SQLOutputValue, SQLTagStore } from 'node:sqlite'
import type { StoredPage } from './store-tables.ts'

/** A chunk that is gone: its terms, its page and the class of that. */
export type RemovedChunk = { id: number; page: number; class: number; terms: string }

/** The chunks that are gone, but that the files of an engine still have. */
export class RemovedChunks {
  readonly #db: DatabaseSync
  readonly #sql: SQLTagStore

  constructor(db: DatabaseSync, sql: SQLTagStore) {
    this.#db = db
    this.#sql = sql
  }

  /** Keeps the terms of a page's last chunks, which are about to be removed. Within a transaction. */
  note({ id, class: ofPage, firstChunk, lengths }: StoredPage, count: number): void {
    const end = firstChunk + lengths.length
    this.#sql.run`INSERT OR IGNORE INTO removed (id, page, class, terms)
      SELECT id, ${id}, ${ofPage}, terms FROM chunks WHERE id >= ${end - count} AND id < ${end}`
  }

  /** All of them, by id. */
  *all(): Generator<RemovedChunk> {
    for (const row of this.#db.prepare('SELECT id, page, class, terms FROM removed ORDER BY id').iterate()) {
      yield toRemoved(row)
    }
  }

  /** Those of a page, by id. */
  of(page: number): RemovedChunk[] {
    return this.#sql.all`SELECT id, page, class, terms FROM removed WHERE page = ${page} ORDER BY id`.map(toRemoved)
  }

  /** Within a transaction. */
  forget(page: number): void {
    this.#sql.run`DELETE FROM removed WHERE page = ${page}`
  }

  /** Names the snapshot that still has them. */
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
}

function toRemoved({ id, page, class: ofPage, terms }: Record<string, SQLOutputValue>): RemovedChunk {
  return { id: Number(id), page: Number(page), class: Number(ofPage), terms: String(terms) }
}
