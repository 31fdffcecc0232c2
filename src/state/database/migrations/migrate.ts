import type { Kysely } from 'kysely'
import { Migrator } from 'kysely/migration'
import {
  DatabaseEmpty,
  DatabaseTooNew,
  DatabaseTooOld,
  DatabaseUnreachable,
  MigrationFailed,
} from '../database-errors.ts'
import type { Schema } from '../schema.ts'
import { migrationsFor } from './migrations.ts'

/**
 * Treatment of a database of an older version, and of an empty one. `refuse` rejects both, `create` rejects an older one. A function
 * receives a line for each step, and a copy of a file is kept next to it; `migrate` is for databases that are copies themselves.
 */
export type WhenOlder = 'migrate' | 'refuse' | 'create' | ((line: string) => void)

type Migrated = {
  /** Names of the migrations that were applied. */
  applied: readonly string[]
  /** Name of the database, for people. */
  name: string
  whenOlder: WhenOlder
  /** Creates a copy whose name has this ending, and returns a line with its location. */
  keepCopy: (ending: string) => string
  /** Commits, if the migrations have no transaction of their own. */
  commit?: () => void
}

/** Migrates a database: all migrations in one transaction. @throws {DatabaseTooNew}, {DatabaseTooOld}, {@link MigrationFailed} */
export async function migrate(db: Kysely<Schema>, migrated: Migrated): Promise<void> {
  const { applied, name, whenOlder, keepCopy, commit } = migrated
  const known = migrationsFor(applied)
  const unknown = applied.filter((migration) => !(migration in known))
  if (unknown.length > 0) throw new DatabaseTooNew(name, unknown)
  const missing = Object.keys(known).filter((migration) => !applied.includes(migration))
  const isOlder = missing.length > 0 && applied.length > 0
  if (applied.length === 0 && whenOlder === 'refuse') throw new DatabaseEmpty(name)
  if (isOlder && (whenOlder === 'refuse' || whenOlder === 'create')) throw new DatabaseTooOld(name, missing)
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
    // After a lost connection, the outcome is unknown.
    throw isOlder && !(error instanceof DatabaseUnreachable) ? new MigrationFailed(name, copy, error) : error
  }
}
