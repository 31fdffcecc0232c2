import type { Kysely } from 'kysely'
import { isPostgresAddress } from './engines/postgres-address.ts'
import { openSqlite } from './engines/sqlite.ts'
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
  close(): Promise<void>
}

/**
 * Opens the operational state, made and migrated where needed. Several processes may do so at once.
 * @param address a file, or a PostgreSQL database: `postgres://…`
 * @throws {DatabaseTooNew}, {@link DatabaseUnreachable}, or the engine's own error where it cannot be opened
 */
export async function openDatabase(address: string): Promise<Database> {
  if (!isPostgresAddress(address)) return openSqlite(address)
  // Loaded only where it is used.
  const { openPostgres } = await import('./engines/postgres.ts')
  return openPostgres(address)
}
