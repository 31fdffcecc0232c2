import { closeSync, openSync, rmSync } from 'node:fs'
import { access, constants, stat } from 'node:fs/promises'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { Kysely, type SqliteDatabase, SqliteDialect, sql } from 'kysely'
import { LRUCache } from 'lru-cache'
import { endSharedTurn, onceInTurn } from '../../../system/concurrency/shared-turn.ts'
import type { Database } from '../database.ts'
import { migrate, type WhenOlder } from '../migrations/migrate.ts'
import { Notifications } from '../notifications.ts'
import type { Schema } from '../schema.ts'

/** Milliseconds that a statement waits for another process that writes. */
const BUSY_TIMEOUT = 5_000
const maxStatements = 500

/**
 * Opens the operational state in a file, creating or migrating it if needed. Several processes may do so at once.
 * Throws {@link DatabaseTooNew}, or SQLite's own error if the file cannot be opened.
 */
export async function openSqlite(file: string, whenOlder: WhenOlder = 'migrate'): Promise<Database> {
  createPrivateFile(file)
  const sqlite = new DatabaseSync(file, { timeout: BUSY_TIMEOUT, enableForeignKeyConstraints: true })
  try {
    await enableWriteAheadLog(sqlite)
    // WAL with synchronous=NORMAL would lose acknowledged rows in a power cut.
    sqlite.exec('PRAGMA synchronous = FULL')
    let writes = 0
    const database = asKyselyDatabase(sqlite, () => {
      writes++
      endSharedTurn()
    })
    const db = new Kysely<Schema>({ dialect: new SqliteDialect({ database }) })
    await migrateAtOnce(db, sqlite, { file, whenOlder })
    // The version changes with every commit of other connections, and with none of this one.
    const dataVersion = sqlite.prepare('PRAGMA data_version')
    const revision = onceInTurn(() => `${writes} ${dataVersion.get()?.data_version}`)
    return {
      ...{ db, revision, notifications: new Notifications() },
      now: () => new Date(),
      lead: (start) => start(),
      alone: (work) => work(),
      size: async () => (await stat(file)).size,
      copyTo: async (copy) => copyDatabase(file, copy),
      isServed: async () => false,
      compact: async () => sqlite.exec('VACUUM; PRAGMA wal_checkpoint(TRUNCATE)'),
      problems: async () => problemsOf(sqlite),
      check: () => access(file, constants.R_OK | constants.W_OK),
      close: () => db.destroy(),
      [Symbol.asyncDispose]: () => db.destroy(),
    }
  } catch (error) {
    sqlite.close()
    throw error
  }
}

/**
 * Copies a SQLite database at one moment into a new file that only the owner can read. Others may write to it meanwhile. The copy
 * is not synced to the disk. Throws SQLite's error if the file is no database, or damaged.
 */
export function copyDatabase(file: string, copy: string): void {
  closeSync(openSync(copy, 'wx', 0o600)) // SQLite fills an empty file
  using source = new DatabaseSync(file, { readOnly: true, timeout: 10_000 })
  source.prepare('VACUUM INTO ?').run(copy)
}

/** Returns the findings of SQLite's own checks, and rows that refer to missing rows. */
function problemsOf(sqlite: DatabaseSync): string[] {
  const isText = (value: unknown) => typeof value === 'string' && value !== 'ok'
  try {
    const damaged = sqlite.prepare('PRAGMA integrity_check(20)').all().flatMap(Object.values).filter(isText).map(String)
    const orphans = sqlite
      .prepare('SELECT "table", parent, count(*) AS count FROM pragma_foreign_key_check GROUP BY 1, 2')
      .all()
    return [
      ...damaged,
      ...orphans.map(
        ({ table, parent, count }) => `${count} rows of ${table} refer to rows of ${parent} that are gone`,
      ),
    ]
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)]
  }
}

/**
 * Makes this process's SQLite create temporary files, as for large sorts, in a folder, unless the environment names one. Call it before the
 * first database is opened. A killed process may leave such a file behind.
 */
export function keepTemporaryFilesIn(folder: string): void {
  process.env.SQLITE_TMPDIR ??= folder
}

/** Creates a file that only the owner can read. SQLite gives the files next to it the same mode. */
function createPrivateFile(file: string): void {
  closeSync(openSync(file, 'a', 0o600))
}

/** Enables WAL. Retries, because two processes that switch a new file at once deadlock, which SQLite reports without waiting. */
async function enableWriteAheadLog(sqlite: DatabaseSync): Promise<void> {
  const deadline = Date.now() + BUSY_TIMEOUT
  for (;;) {
    try {
      sqlite.exec('PRAGMA journal_mode = WAL')
      return
    } catch (error) {
      if (!isBusy(error) || Date.now() > deadline) throw error
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }
}

/** True for SQLite's "database is locked", including extended codes. */
export function isBusy(error: unknown): boolean {
  const SQLITE_BUSY = 5
  return error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === SQLITE_BUSY
}

/** Migrates in one write transaction, since Kysely takes no migration lock on SQLite. */
async function migrateAtOnce(
  db: Kysely<Schema>,
  sqlite: DatabaseSync,
  { file, whenOlder }: { file: string; whenOlder: WhenOlder },
): Promise<void> {
  const keepCopy = (ending: string) => {
    const copy = `${file}.${ending}`
    rmSync(copy, { force: true })
    copyDatabase(file, copy)
    return `${file} is of an older version. A copy of it is kept: ${copy}`
  }
  sqlite.exec('BEGIN IMMEDIATE')
  try {
    const commit = () => sqlite.exec('COMMIT')
    await migrate(db, { applied: await appliedMigrations(db), name: file, whenOlder, keepCopy, commit })
  } catch (error) {
    if (sqlite.isTransaction) sqlite.exec('ROLLBACK')
    throw error
  }
}

async function appliedMigrations(db: Kysely<Schema>): Promise<string[]> {
  const tables = await sql`select 1 from sqlite_schema where name = 'kysely_migration'`.execute(db)
  if (tables.rows.length === 0) return []
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db)
  return rows.map((row) => row.name)
}

/**
 * Adapts `node:sqlite` to the interface that Kysely expects of better-sqlite3. Statements are cached: most run faster than they are prepared.
 * @param onWrite called after each statement that is not a SELECT
 */
export function asKyselyDatabase(sqlite: DatabaseSync, onWrite = () => {}): SqliteDatabase {
  const statements = new LRUCache<string, Prepared>({ max: maxStatements })
  return {
    prepare(text) {
      // Begins immediately: a deferred transaction that reads before it writes fails, without waiting, if another process wrote meanwhile.
      const sql = text === 'begin' ? 'begin immediate' : text
      const prepared = statements.get(sql) ?? prepare(sqlite, sql, sql.startsWith('select') ? () => {} : onWrite)
      statements.set(sql, prepared)
      return prepared
    },
    close: () => sqlite.close(),
  }
}

type Prepared = ReturnType<SqliteDatabase['prepare']>

function prepare(sqlite: DatabaseSync, sql: string, done: () => void): Prepared {
  const statement = sqlite.prepare(sql)
  const thenDone = <Result>(result: Result) => {
    done()
    return result
  }
  return {
    reader: statement.columns().length > 0,
    all: (parameters) => thenDone(statement.all(...parameters.map(toSqlValue))),
    run: (parameters) => thenDone(statement.run(...parameters.map(toSqlValue))),
    iterate: (parameters) => statement.iterate(...parameters.map(toSqlValue)),
  }
}

function toSqlValue(value: unknown): SQLInputValue {
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint')
    return value
  if (value instanceof Uint8Array) return value
  throw new TypeError(`SQLite cannot hold a value of type ${typeof value}.`)
}
