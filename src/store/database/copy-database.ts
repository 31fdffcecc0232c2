import { closeSync, openSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

/**
 * Copies a SQLite database that others may be writing to, as it is at one moment, into a new file for the owner's eyes
 * only. The copy is not synced to the disk. Throws SQLite's error where the file is no database, or a damaged one.
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
