import { closeSync, openSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

/**
 * Copies a SQLite database, as of one moment, into a new file that only the owner can read. Others may write to it meanwhile. The
 * copy is not synced to the disk. Throws SQLite's error if the file is no database, or damaged.
 */
export function copyDatabase(file: string, copy: string): void {
  closeSync(openSync(copy, 'wx', 0o600)) // SQLite fills an empty file
  const source = new DatabaseSync(file, { readOnly: true, timeout: 10_000 })
  try {
    source.prepare('VACUUM INTO ?').run(copy)
  } finally {
    source.close()
  }
}
