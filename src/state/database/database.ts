import type { Kysely } from 'kysely'
import type { Notifications } from './notifications.ts'
import type { Schema } from './schema.ts'

/** The opened operational state. */
export type Database = AsyncDisposable & {
  db: Kysely<Schema>
  /**
   * Returns a text that changes whenever any process has written something. Undefined on PostgreSQL, where nothing may be
   * cached.
   */
  revision(): string | undefined
  /** Returns the time for rows. PostgreSQL's own time there, since the clocks of several nodes may differ. */
  now(): Date
  /** Notifications of writes, to all processes that use the database. */
  notifications: Notifications
  /**
   * Runs a duty in only one of the processes that use the database; at once if this is the only one.
   * @param start starts the duty, and returns a function that stops it
   * @returns a function that stops it, so that another process can start it
   */
  lead(start: () => Promise<() => unknown>): Promise<() => unknown>
  /** Runs work while no other process runs work under this lock. */
  alone<Result>(work: () => Promise<Result>): Promise<Result>
  /** Returns the size in bytes. */
  size(): Promise<number>
  /** Copies the state at one moment into a new SQLite file that only the owner can read. The file is not synced to the disk. */
  copyTo(file: string): Promise<void>
  /** True if a running server uses the database. Always false for a file, where the lock of the data directory tells. */
  isServed(): Promise<boolean>
  /** Rewrites the files, so that they contain nothing of removed rows. Requires that no other process uses the database. */
  compact(): Promise<void>
  /** Returns damage in the database, for people. PostgreSQL checks itself. */
  problems(): Promise<string[]>
  /** Throws if the database cannot be reached. */
  check(): Promise<void>
  close(): Promise<void>
}
