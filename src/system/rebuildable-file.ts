import type { DatabaseSync } from 'node:sqlite'

/**
 * Configures a file that can be rebuilt at any time, so no commit waits for the disk. A commit writes whole pages, one or more of each index:
 * those of 2 KB take a quarter less than SQLite's 4 KB, and smaller ones make wide rows overflow.
 */
export function configureRebuildable(db: DatabaseSync): void {
  db.exec('PRAGMA page_size = 2048; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL')
}
