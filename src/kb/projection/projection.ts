import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { DatabaseSync, type SQLTagStore, type StatementSync } from 'node:sqlite'
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import { isBusy } from '../../state/database/engines/sqlite.ts'
import { endSharedTurn, onceInTurn } from '../../system/concurrency/shared-turn.ts'
import { readIfThere } from '../../system/read-if-there.ts'
import { configureRebuildable } from '../../system/rebuildable-file.ts'
import { type ChangedRows, laidOverTables, noteChanges, openLaidOver } from './changed-rows.ts'
import { type Index, lateIndexes, projectionSchema, projectionTables, projectionVersion } from './projection-schema.ts'

/** File name in the folder of a knowledge base's indexes. */
export const projectionFile = 'knowledge.db'

/** Suffix of the file that records the state of the tables' file when it was last closed. */
const closedMark = '-closed'

/** Milliseconds to wait for a transaction; longer than a batch of an import takes. */
const beginTimeoutMs = 30_000

/**
 * Tables, for readers of main only. They cannot iterate over an open statement: a second use of its text ends the first iteration, so rows
 * are read whole or by `rowsInBatches`.
 */
export type MainTables = Pick<SQLTagStore, 'all' | 'get' | 'run'>
declare const hasCandidates: unique symbol
/** Tables including all candidates, which are followed after main, see `ReadableKb`. */
export type AllTables = MainTables & { readonly [hasCandidates]: true }

/**
 * Page cache, in KiB as a negative number, as SQLite expects. With SQLite's default, each page is written and read again several times
 * while tables are filled.
 */
const [ordinaryCache, fillingCache] = [-2_000, -64 * 1024]
/** Number of WAL pages at which SQLite makes a checkpoint. */
const [ordinaryLog, bulkLog] = [1_000, 8_000]

const allIndexes = [...lateIndexes.main, ...lateIndexes.queue]

export type ProjectionHeads = { main: string | undefined; queue: string | undefined }

/**
 * Content of one knowledge base's git history in tables: a SQLite file that follows the commits, and can be deleted at any time and rebuilt
 * identically. One connection writes in the writer's transactions; the other reads committed data. Other processes may follow the same
 * history in the same file. It is not synced to the disk on every commit: after a power cut it is behind git, and catches up.
 */
export class Projection {
  readonly write: AllTables
  readonly read: AllTables
  readonly #writer: DatabaseSync
  readonly #reader: DatabaseSync
  readonly #savepoint: StatementSync
  readonly #release: StatementSync
  readonly #dataVersion: StatementSync
  readonly #file: string
  readonly #onClosed: () => unknown
  #hasSavepoint = false
  #hasJournalsInMemory = false

  /** Opens the file. @param onClosed called after it is closed */
  constructor(file: string, onClosed: () => unknown = () => {}) {
    this.#file = file
    this.#onClosed = onClosed
    this.#writer = openFile(file)
    this.#writer.exec('PRAGMA busy_timeout = 0') // With a timeout, SQLite would block other work while it waits.
    this.#reader = new DatabaseSync(file, { readOnly: true, timeout: 10_000 })
    this.write = tagStore(this.#writer, 200)
    this.read = tagStore(this.#reader, 200)
    this.#savepoint = this.#writer.prepare('SAVEPOINT work')
    this.#release = this.#writer.prepare('RELEASE work')
    this.#dataVersion = this.#reader.prepare('PRAGMA data_version')
  }

  /** Changes whenever something was committed, by this process or another: {@link read} sees it. */
  readonly revision = onceInTurn((): number => Number(this.#dataVersion.get()?.data_version))

  heads(sql: MainTables): ProjectionHeads {
    return this.#oids(sql, '')
  }

  #oids(sql: MainTables, prefix: string): ProjectionHeads {
    const value = (ref: string) => {
      const row = sql.get`SELECT value FROM meta WHERE key = ${prefix + ref}`
      return row === undefined ? undefined : String(row.value)
    }
    return { main: value('main'), queue: value('queue') }
  }

  setHead(ref: 'main' | 'queue', oid: string | undefined): void {
    if (oid === undefined) this.write.run`DELETE FROM meta WHERE key = ${ref}`
    else this.write.run`INSERT OR REPLACE INTO meta (key, value) VALUES (${ref}, ${oid})`
  }

  /** Begins a transaction. Waits, while other work may run, if another process is in one. */
  async begin(): Promise<void> {
    this.#keepJournalsInMemory()
    const deadline = Date.now() + beginTimeoutMs
    while (!this.#tryBegin(deadline)) await delay(1 + Math.random() * 5)
    this.#hasSavepoint = false
  }

  /**
   * Keeps the journals of savepoints in memory instead of in a file per approval. While tables are filled, rows are sorted for their
   * indexes on disk.
   */
  #keepJournalsInMemory(): void {
    const { main, queue } = this.#hasJournalsInMemory ? {} : this.heads(this.write)
    if (main === undefined || queue === undefined) return
    this.#writer.exec('PRAGMA temp_store = MEMORY')
    this.#hasJournalsInMemory = true
  }

  #tryBegin(deadline: number): boolean {
    try {
      this.#writer.exec('BEGIN IMMEDIATE')
      return true
    } catch (error) {
      if (isBusy(error) && Date.now() < deadline) return false
      throw error
    }
  }

  /** Sets the one savepoint of {@link rollbackToSavepoint}. Must run in a transaction. */
  savepoint(): void {
    if (this.#hasSavepoint) this.#release.run()
    this.#savepoint.run()
    this.#hasSavepoint = true
  }

  rollbackToSavepoint(): void {
    this.#writer.exec('ROLLBACK TO work')
  }

  commit(): void {
    this.#writer.exec('COMMIT')
    endSharedTurn()
  }

  rollback(): void {
    if (this.#writer.isTransaction) this.#writer.exec('ROLLBACK')
  }

  /** Records changes of the tables of main, see {@link noteChanges}. Must run in a transaction. */
  noteChanges(): () => Promise<ChangedRows[]> {
    return noteChanges(this.#writer, laidOverTables)
  }

  /** Returns the present tables with changes applied, until they are closed; see {@link openLaidOver}. */
  async layOver(changes: readonly ChangedRows[]): Promise<{ sql: AllTables; close: () => void }> {
    const db = await openLaidOver(this.#file, changes)
    return { sql: tagStore(db, 100), close: () => db.close() }
  }

  /** Returns the number that seqIds must exceed, whatever main has: raised when a backup is restored or main is rewritten. */
  seqFloor(): number {
    const rows = this.write.all`SELECT value FROM meta WHERE key IN ('seq-floor', 'lost-number')`
    return Math.max(0, ...rows.map(({ value }) => Number(value)))
  }

  /** Sets the floor; 0: none. */
  setSeqFloor(floor: number): void {
    if (floor === 0) this.write.run`DELETE FROM meta WHERE key = 'seq-floor'`
    else this.write.run`INSERT OR REPLACE INTO meta (key, value) VALUES ('seq-floor', ${String(floor)})`
  }

  /** Returns former heads that are no longer in the history of their refs. They are forgotten with the file. */
  lostHeads(sql: MainTables): ProjectionHeads {
    return this.#oids(sql, 'lost-')
  }

  /** Records a commit that an erasure has replaced. Must run in a transaction. */
  noteReplaced(oid: string, now: string): void {
    this.write.run`INSERT OR REPLACE INTO replaced_commits (oid, now) VALUES (${oid}, ${now})`
  }

  noteLostHead(ref: 'main' | 'queue', oid: string): void {
    this.write.run`INSERT OR REPLACE INTO meta (key, value) VALUES (${`lost-${ref}`}, ${oid})`
  }

  /** Deletes everything that can be derived again from the history. Must run in a transaction. */
  clear(): void {
    const lost = this.write.get`SELECT max(number) AS number FROM versions`?.number
    const number = Math.max(Number(lost ?? 0), this.seqFloor())
    if (number > 0) this.write.run`INSERT OR REPLACE INTO meta (key, value) VALUES ('lost-number', ${String(number)})`
    for (const table of projectionTables) {
      this.#writer.exec(`DELETE FROM ${table} ${table === 'meta' ? "WHERE key NOT LIKE 'lost-%'" : ''}`)
    }
    this.#writer.exec(`DELETE FROM candidate_rows; INSERT INTO candidate_words (candidate_words) VALUES ('delete-all')`)
  }

  /** Fills the empty tables of main, or of candidates. Must run in a transaction. */
  async fill(part: 'main' | 'queue', work: () => Promise<void>): Promise<void> {
    const { cache_size: before } = this.#writer.prepare('PRAGMA cache_size').get() ?? {}
    this.#writer.exec(`PRAGMA cache_size = ${fillingCache}`)
    try {
      for (const { name } of lateIndexes[part]) this.#writer.exec(`DROP INDEX IF EXISTS ${name}`)
      await work()
      await this.#makeIndexes(lateIndexes[part])
    } finally {
      this.#writer.exec(`PRAGMA cache_size = ${before}`)
    }
  }

  /** Enlarges the cache and the WAL for many large transactions. Must run outside of one. */
  async inBulk<T>(work: () => Promise<T>): Promise<T> {
    const set = (cache: number, log: number) =>
      this.#writer.exec(`PRAGMA cache_size = ${cache}; PRAGMA wal_autocheckpoint = ${log}`)
    set(fillingCache, bulkLog)
    try {
      return await work()
    } finally {
      set(ordinaryCache, ordinaryLog)
    }
  }

  /** Drops scattered indexes until {@link completeIndexes}. Must run in a transaction. */
  dropScatteredIndexes(): void {
    for (const { name, isScattered } of allIndexes) if (isScattered) this.#writer.exec(`DROP INDEX IF EXISTS ${name}`)
  }

  hasAllIndexes(): boolean {
    const rows = this.#reader.prepare("SELECT name FROM sqlite_schema WHERE type = 'index'").all()
    const names = new Set(rows.map(({ name }) => name))
    return allIndexes.every(({ name }) => names.has(name))
  }

  /** Creates missing indexes. Must run in a transaction. */
  completeIndexes(): Promise<void> {
    return this.#makeIndexes(allIndexes)
  }

  async #makeIndexes(indexes: readonly Index[]): Promise<void> {
    for (const index of indexes) {
      await nextTurn()
      createIndex(this.#writer, index)
    }
  }

  /** Reads the tables in one state, on a separate connection, so that other work continues however long it takes. */
  async withSnapshot<T>(work: (sql: AllTables) => Promise<T>): Promise<T> {
    using db = new DatabaseSync(this.#file, { readOnly: true, timeout: 10_000 })
    db.exec('BEGIN')
    return await work(tagStore(db, 50))
  }

  close(): void {
    this.#reader.close()
    this.#writer.close()
    noteClosed(this.#file)
    this.#onClosed()
  }
}

/** Returns a connection whose tables include the queue. */
export function tagStore(db: DatabaseSync, statements: number): AllTables {
  return db.createTagStore(statements) satisfies MainTables as MainTables as AllTables
}

function openFile(file: string): DatabaseSync {
  const known = openIfSound(file)
  if (known !== undefined) return known
  for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true })
  const fresh = new DatabaseSync(file, { timeout: 10_000 })
  configureRebuildable(fresh)
  createTables(fresh)
  return fresh
}

/** Opens the file, or creates it; undefined if it is damaged or of another version. */
function openIfSound(file: string): DatabaseSync | undefined {
  const isKnown = isAsClosed(file)
  const db = new DatabaseSync(file, { timeout: 10_000 })
  try {
    configureRebuildable(db)
    const { user_version: version } = db.prepare('PRAGMA user_version').get() ?? {}
    if (version === 0) createTables(db)
    const isSound = (version === 0 || version === projectionVersion) && (isKnown || isWhole(db))
    if (isSound) return db
  } catch (error) {
    if (!isDamage(error)) {
      db.close()
      throw error
    }
  }
  db.close()
  return undefined
}

/** True if the file is unchanged since it was closed in order. A full check takes time proportional to its size. */
function isAsClosed(file: string): boolean {
  return !existsSync(`${file}-wal`) && existsSync(file) && readIfThere(file + closedMark) === stampOf(file)
}

function noteClosed(file: string): void {
  try {
    writeFileSync(file + closedMark, stampOf(file))
  } catch {
    // The disk is full, or the folder was removed: then the whole file is checked.
  }
}

function stampOf(file: string): string {
  const { ino, size, mtimeNs } = statSync(file, { bigint: true })
  return [ino, size, mtimeNs].join(' ')
}

function isWhole(db: DatabaseSync): boolean {
  return db.prepare('PRAGMA quick_check(1)').get()?.quick_check === 'ok'
}

/** True for SQLITE_CORRUPT and SQLITE_NOTADB, with their extended codes. */
function isDamage(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && [11, 26].includes(Number(error.errcode) & 0xff)
}

function createIndex(db: DatabaseSync, { name, sql }: Index): void {
  db.exec(`CREATE INDEX IF NOT EXISTS ${name} ${sql}`)
}

function createTables(db: DatabaseSync): void {
  db.exec('BEGIN IMMEDIATE')
  const { user_version: version } = db.prepare('PRAGMA user_version').get() ?? {}
  if (version === 0) {
    db.exec(`${projectionSchema}; PRAGMA user_version = ${projectionVersion}`)
    for (const index of allIndexes) createIndex(db, index)
  }
  db.exec('COMMIT')
}
