import type { Database } from './database.ts'
import { isPostgresAddress } from './engines/postgres-address.ts'
import { openSqlite } from './engines/sqlite.ts'
import type { WhenOlder } from './migrations/migrate.ts'

/**
 * Opens the operational state, and creates or migrates it if needed. Several processes may do so at once.
 * @param address a file, or a PostgreSQL database: `postgres://…`
 * @throws {DatabaseTooNew}, {DatabaseTooOld}, {@link DatabaseUnreachable}, or an error of the engine
 */
export async function openDatabase(address: string, whenOlder: WhenOlder = 'migrate'): Promise<Database> {
  if (!isPostgresAddress(address)) return openSqlite(address, whenOlder)
  // Loaded on demand: SQLite does not need it.
  const { openPostgres } = await import('./engines/postgres.ts')
  return openPostgres(address, whenOlder)
}
