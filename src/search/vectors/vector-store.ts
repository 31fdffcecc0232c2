import type { DatabaseSync, SQLTagStore } from 'node:sqlite'
import { openTables, transaction } from '../index/store-file.ts'
import { fromBlob, type Quantised, toBlob } from './sign-rows.ts'

/** Format of the stored vectors. Raise it whenever the bytes of vectors or the texts to embed change. */
const format = 1

const statements = [
  'CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID, STRICT',
  'CREATE TABLE vectors (hash BLOB NOT NULL UNIQUE, vector BLOB NOT NULL) STRICT',
  // Vectors that no chunk uses. `since`: in milliseconds since 1970.
  'CREATE TABLE unused (hash BLOB PRIMARY KEY, since INTEGER NOT NULL) WITHOUT ROWID, STRICT',
]

/** Thrown for a vector with other dimensions, which another model has returned. */
class OtherDimensions extends Error {
  override readonly name = 'OtherDimensions'

  constructor(dimensions: number, expected: number) {
    super(`The embeddings model answers with ${dimensions} dimensions, where it answered with ${expected} before.`)
  }
}

/**
 * Vectors of texts, by hash, in a SQLite file, so that no text is sent to a model twice, whatever happens to the index. The file
 * may be deleted at any time; then all texts are embedded again.
 */
export class VectorStore {
  readonly #db: DatabaseSync
  readonly #sql: SQLTagStore
  /** Dimensions of all vectors; undefined before the first. */
  #dimensions: number | undefined

  /** Opens the file. Discards vectors of another model, and damaged files. @param model name of the model */
  constructor(file: string, model: string) {
    this.#db = openTables(file, { made: `${format} ${model}`, statements })
    this.#sql = this.#db.createTagStore(20)
    const kept = this.#sql.get`SELECT value FROM meta WHERE key = 'dimensions'`
    this.#dimensions = kept && Number(kept.value)
  }

  /** Returns a vector, and its place for {@link at}. */
  find(hash: Uint8Array): (Quantised & { place: number }) | undefined {
    const row = this.#sql.get`SELECT rowid, vector FROM vectors WHERE hash = ${hash}`
    return row?.vector instanceof Uint8Array ? { ...fromBlob(row.vector), place: Number(row.rowid) } : undefined
  }

  at(place: number): Quantised | undefined {
    const row = this.#sql.get`SELECT vector FROM vectors WHERE rowid = ${place}`
    return row?.vector instanceof Uint8Array ? fromBlob(row.vector) : undefined
  }

  /** Adds all vectors, or none if it throws. @throws {OtherDimensions} */
  add(vectors: readonly { hash: Uint8Array; vector: Quantised }[]): void {
    const dimensions = this.#dimensions ?? vectors[0]?.vector.bytes.length ?? 0
    transaction(this.#db, () => {
      for (const { hash, vector } of vectors) {
        const { length } = vector.bytes
        if (length !== dimensions) throw new OtherDimensions(length, dimensions)
        this.#sql.run`INSERT INTO vectors (hash, vector) VALUES (${hash}, ${toBlob(vector)})
          ON CONFLICT (hash) DO UPDATE SET vector = excluded.vector`
      }
      if (vectors.length === 0) return
      this.#sql.run`INSERT OR REPLACE INTO meta (key, value) VALUES ('dimensions', ${String(dimensions)})`
    })
    if (vectors.length > 0) this.#dimensions = dimensions
  }

  /**
   * Marks vectors that no chunk uses, and removes those marked before `before`. Pages can return, e.g. from a backup or when
   * an index is rebuilt.
   * @param isUsed true if a chunk has this hash
   * @param now milliseconds since 1970, as `before`
   */
  sweep(isUsed: (hash: Uint8Array) => boolean, { now, before }: { now: number; before: number }): void {
    transaction(this.#db, () => {
      for (const { hash } of this.#sql.all`SELECT hash FROM vectors`) {
        if (!(hash instanceof Uint8Array)) continue
        if (isUsed(hash)) this.#sql.run`DELETE FROM unused WHERE hash = ${hash}`
        else this.#sql.run`INSERT OR IGNORE INTO unused (hash, since) VALUES (${hash}, ${now})`
      }
      this.#sql.run`DELETE FROM vectors WHERE hash IN (SELECT hash FROM unused WHERE since < ${before})`
      this.#sql.run`DELETE FROM unused WHERE since < ${before}`
    })
  }

  close(): void {
    if (this.#db.isOpen) this.#db.close()
  }
}
