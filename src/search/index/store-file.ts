import { rmSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

/** Milliseconds that a statement waits for another process: all indexes of a process wait with it. */
const timeout = 2_000

/**
 * What SQLite says of the system and not of the file: SQLITE_PERM, BUSY, LOCKED, NOMEM, READONLY, INTERRUPT, IOERR, FULL and
 * CANTOPEN. Another file would fare no better.
 */
const circumstances: ReadonlySet<number> = new Set([3, 5, 6, 7, 8, 9, 10, 13, 14])
/** SQLITE_CORRUPT and SQLITE_NOTADB. */
const damages: ReadonlySet<number> = new Set([11, 26])

/** Bytes of a file that is checked as a whole when it is opened: more would take too long. */
const maxChecked = 64 * 1024 ** 2

/**
 * A SQLite file as it is, or empty where there is none.
 * @param options.bigTables are not checked in a file of more than `limit` bytes: there, what is damaged fails when it is read.
 * @throws where it is damaged.
 */
export function openSound(
  file: string,
  { bigTables = [], limit = maxChecked }: { bigTables?: readonly string[]; limit?: number } = {},
): DatabaseSync {
  const db = new DatabaseSync(file, { timeout })
  try {
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL')
    const names = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0").all()
    // Table by table: a check of the whole would go through FTS5's own structures, which takes ten times as long.
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

/** Without one, nothing happens. */
export function removeFile(file: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true })
}

/** Whether an error is of what a file holds, so that a new file would not have it. */
export function isOfContent(error: unknown): boolean {
  const code = sqliteCode(error)
  if (code !== undefined) return !circumstances.has(code)
  const isOfSystem = error instanceof Error && 'syscall' in error
  return !isOfSystem
}

/** Whether SQLite came upon damage on the way. */
export function isDamage(error: unknown): boolean {
  return damages.has(sqliteCode(error) ?? 0)
}

/** Without what SQLite adds to it: SQLITE_IOERR_READ is SQLITE_IOERR. */
function sqliteCode(error: unknown): number | undefined {
  return error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : undefined
}
