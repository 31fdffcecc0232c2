import type { Kysely } from 'kysely'
import { Migrator } from 'kysely/migration'
import { DatabaseTooNew } from '../errors.ts'
import type { Schema } from '../schema.ts'
import { migrations } from './migrations.ts'

/**
 * Brings a database up to date.
 * @param applied names of the migrations that it has
 * @param name of the database, for people
 * @throws {DatabaseTooNew}
 */
export async function migrate(db: Kysely<Schema>, applied: readonly string[], name: string): Promise<void> {
  const unknown = applied.filter((migration) => !(migration in migrations))
  if (unknown.length > 0) throw new DatabaseTooNew(name, unknown)
  const { error } = await new Migrator({ db, provider: { getMigrations: async () => migrations } }).migrateToLatest()
  if (error !== undefined) throw error
}
