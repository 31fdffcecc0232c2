import type { Kysely } from 'kysely'
import { Migrator } from 'kysely/migration'
import {
  DatabaseOutdated,
  DatabaseTooNew,
  DatabaseTooOld,
  DatabaseUnreachable,
  MigrationFailed,
} from '../database-errors.ts'
import type { Schema } from '../schema.ts'
import { firstSchema, migrations } from './migrations.ts'

/**
 * What is done with a database of an older version. A function is told what is done, a line each, and a copy of a file is kept beside
 * it; `migrate` is for databases that are copies themselves.
 */
export type WhenOlder = 'migrate' | 'refuse' | ((line: string) => void)

type Migrated = {
  /** Names of the migrations that it has. */
  applied: readonly string[]
  /** Of the database, for people. */
  name: string
  whenOlder: WhenOlder
  /** Keeps a copy under a name that ends so, and returns the line that says where. */
  keepCopy: (ending: string) => string
  /** Ends the transaction, if the migrations have none of their own. */
  commit?: () => void
}

/** Brings a database up to date: all migrations in one transaction. @throws {DatabaseOutdated}, {DatabaseTooNew}, {DatabaseTooOld}, {@link MigrationFailed} */
export async function migrate(db: Kysely<Schema>, migrated: Migrated): Promise<void> {
  const { applied, name, whenOlder, keepCopy, commit } = migrated
  if (applied.length > 0 && !applied.includes(firstSchema)) throw new DatabaseOutdated(name, firstSchema)
  // Databases that are older than the first schema were brought to it by migrations that are gone.
  const before = applied.filter((migration) => migration < firstSchema)
  const known = { ...Object.fromEntries(before.map((migration) => [migration, { up: async () => {} }])), ...migrations }
  const unknown = applied.filter((migration) => !(migration in known))
  if (unknown.length > 0) throw new DatabaseTooNew(name, unknown)
  const missing = Object.keys(migrations).filter((migration) => !applied.includes(migration))
  const isOlder = missing.length > 0 && applied.length > 0
  if (isOlder && whenOlder === 'refuse') throw new DatabaseTooOld(name, missing)
  let copy = ''
  try {
    if (isOlder && typeof whenOlder === 'function') {
      copy = keepCopy(`before-${missing[0]}`)
      for (const line of [copy, ...missing.map((migration) => `${name}: migrating to ${migration}`)]) whenOlder(line)
    }
    const { error } = await new Migrator({ db, provider: { getMigrations: async () => known } }).migrateToLatest()
    if (error !== undefined) throw error
    commit?.()
  } catch (error) {
    // Of a connection that is lost nobody knows what was done.
    throw isOlder && !(error instanceof DatabaseUnreachable) ? new MigrationFailed(name, copy, error) : error
  }
}
