import type { Kysely } from 'kysely'
import type { Notifications } from './notifications.ts'
import type { Schema } from './schema.ts'

/** The operational state, open. */
export type Database = {
  db: Kysely<Schema>
  /**
   * Another one than before whenever something was written since, by this process or another. Undefined on PostgreSQL, which
   * cannot tell without being asked: then nothing that was read may be kept.
   */
  revision(): string | undefined
  /** The time by which rows are written. On PostgreSQL its own: the clocks of several nodes may differ. */
  now(): Date
  /** Of what was written, to this process and the others that use the database. */
  notifications: Notifications
  /**
   * Does something in one process of all that use the database at a time: at once where this one is alone.
   * @param start begins to do it, and gives how to stop
   * @returns how to stop, and to leave it to others
   */
  lead(start: () => Promise<() => unknown>): Promise<() => unknown>
  /** Does something while no other process that uses the database does such a thing. */
  alone<Result>(work: () => Promise<Result>): Promise<Result>
  /** Bytes. */
  size(): Promise<number>
  /** Copies everything, as it is at one moment, into a new SQLite file for the owner's eyes only, which is not synced to the disk. */
  copyTo(file: string): Promise<void>
  /** Throws where it cannot be reached. */
  check(): Promise<void>
  close(): Promise<void>
}
