import type { Kysely } from 'kysely'
import type { Notifications } from './notifications.ts'
import type { Schema } from './schema.ts'

/** The operational state, open. */
export type Database = {
  db: Kysely<Schema>
  /**
   * Changes whenever this or another process has written something. Undefined on PostgreSQL, which can only be asked: then
   * nothing that was read may be cached.
   */
  revision(): string | undefined
  /** The time by which rows are written. On PostgreSQL its own: the clocks of several nodes may differ. */
  now(): Date
  /** Notifications of writes, to this process and the others that use the database. */
  notifications: Notifications
  /**
   * Runs something in only one of the processes that use the database; at once if this is the only one.
   * @param start starts it, and returns how to stop it
   * @returns stops it, so that another process can start it
   */
  lead(start: () => Promise<() => unknown>): Promise<() => unknown>
  /** Runs work while no other process that uses the database runs work of this kind. */
  alone<Result>(work: () => Promise<Result>): Promise<Result>
  /** Bytes. */
  size(): Promise<number>
  /**
   * Copies everything, as of one moment, into a new SQLite file that only the owner can read. The file is not synced to the disk.
   */
  copyTo(file: string): Promise<void>
  /** Whether a server is running that uses the database. A file has the lock of its data directory for that. */
  isServed(): Promise<boolean>
  /** Rewrites the files, so that nothing of removed rows is left in them. Requires that no other process uses the database. */
  compact(): Promise<void>
  /** Returns damage in the database, for people. PostgreSQL checks itself. */
  problems(): Promise<string[]>
  /** Throws if the database cannot be reached. */
  check(): Promise<void>
  close(): Promise<void>
}
