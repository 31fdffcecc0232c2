import { randomUUID } from 'node:crypto'
import { rmSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { configureRebuildable } from '../../system/rebuildable-file.ts'

/** Milliseconds that a statement waits for another process, during which all indexes of this process wait. */
const timeout = 2_000

/**
 * SQLite errors about the system and not the file: SQLITE_PERM, BUSY, LOCKED, NOMEM, READONLY, INTERRUPT, IOERR, FULL and
 * CANTOPEN. A new file would not help.
 */
const circumstances: ReadonlySet<number> = new Set([3, 5, 6, 7, 8, 9, 10, 13, 14])
/** SQLITE_CORRUPT and SQLITE_NOTADB. */
const damages: ReadonlySet<number> = new Set([11, 26])

/** Maximum bytes of a file that is checked completely when it is opened: more would take too long. */
const maxChecked = 64 * 1024 ** 2

type Checks = {
  /** Tables not checked in a file of more than `limit` bytes. Damage in them is detected when they are read. */
  bigTables?: readonly string[]
  limit?: number
}

/** Tables of a file that may be deleted and filled again at any time. */
export type FileTables = Checks & {
  /** Version of the content. A file of another version is emptied. */
  made: string
  /** Statements that create the tables and their indexes. One table is `meta`, with `key` and `value`. */
  statements: readonly string[]
}

/** Opens a SQLite file, or creates it. @throws if the file is damaged */
export function openSound(file: string, { bigTables = [], limit = maxChecked }: Checks = {}): DatabaseSync {
  const db = new DatabaseSync(file, { timeout })
  try {
    configureRebuildable(db)
    const names = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0").all()
    // Checks table by table: a check of the whole file would include FTS5's own structures, which takes ten times as long.
    const isBig = (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > limit
    for (const { name } of names) {
      if (isBig && bigTables.includes(String(name))) continue
      const { quick_check: found } =
        db.prepare(`PRAGMA quick_check('${String(name).replaceAll("'", "''")}')`).get() ?? {}
      if (found !== 'ok') throw new Error(`${file} is damaged: ${found}`)
    }
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/** Opens a SQLite file, or creates it. Replaces damaged files, and empties those of another version. */
export function openTables(file: string, tables: FileTables): DatabaseSync {
  const open = () => {
    const db = openSound(file, tables)
    try {
      // Another process may create the tables meanwhile.
      if (!areMade(db, tables)) transaction(db, () => areMade(db, tables) || make(db, tables))
      return db
    } catch (error) {
      db.close()
      throw error
    }
  }
  return openOrReplace(open, () => removeFile(file))
}

function areMade(db: DatabaseSync, { made, statements }: FileTables): boolean {
  const rows = db.prepare('SELECT sql FROM sqlite_schema').all()
  const held = new Set(rows.map(({ sql }) => sql))
  if (!statements.every((statement) => held.has(statement))) return false
  return db.prepare("SELECT value FROM meta WHERE key = 'made'").get()?.value === made
}

function make(db: DatabaseSync, { made, statements }: FileTables): void {
  // Dropping a virtual table also drops its shadow tables.
  const names = db
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rootpage")
    .all()
  for (const { name } of names) db.exec(`DROP TABLE IF EXISTS "${name}"`)
  for (const statement of statements) db.exec(statement)
  db.prepare("INSERT INTO meta (key, value) VALUES ('made', ?), ('stamp', ?)").run(made, randomUUID())
}

/** Runs work in a transaction, which is rolled back if the work throws. */
export function transaction<Result>(db: DatabaseSync, work: () => Result): Result {
  db.exec('BEGIN IMMEDIATE')
  try {
    const result = work()
    db.exec('COMMIT')
    return result
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}

/** Removes a SQLite file, if there is one. */
export function removeFile(file: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true })
}

/** Opens a file. If its content prevents that, removes the file and creates a new one. */
export function openOrReplace<Opened>(open: () => Opened, remove: () => void): Opened {
  try {
    return open()
  } catch (error) {
    if (!isOfContent(error)) throw error
    remove()
    return open()
  }
}

/** True if an error is caused by the content of a file, so that recreating the file helps. */
function isOfContent(error: unknown): boolean {
  const code = sqliteCode(error)
  if (code !== undefined) return !circumstances.has(code)
  const isOfSystem = error instanceof Error && 'syscall' in error
  return !isOfSystem
}

/** True if SQLite found damage. */
export function isDamage(error: unknown): boolean {
  return damages.has(sqliteCode(error) ?? 0)
}

/** Returns the primary result code: SQLITE_IOERR for SQLITE_IOERR_READ. */
function sqliteCode(error: unknown): number | undefined {
  return error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : undefined
}
