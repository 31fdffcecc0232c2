import type { Kysely } from 'kysely'
import { Migrator } from 'kysely/migration'
import { DatabaseTooNew, DatabaseTooOld } from '../errors.ts'
import type { Schema } from '../schema.ts'
import { migrations } from './migrations.ts'

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
}

/** Brings a database up to date. @throws {DatabaseTooNew}, {@link DatabaseTooOld} */
export async function migrate(db: Kysely<Schema>, { applied, name, whenOlder, keepCopy }: Migrated): Promise<void> {
  const unknown = applied.filter((migration) => !(migration in migrations))
  if (unknown.length > 0) throw new DatabaseTooNew(name, unknown)
  const missing = Object.keys(migrations).filter((migration) => !applied.includes(migration))
  if (missing[0] !== undefined && applied.length > 0 && whenOlder !== 'migrate') {
    if (whenOlder === 'refuse') throw new DatabaseTooOld(name, missing)
    whenOlder(keepCopy(`before-${missing[0]}`))
    for (const migration of missing) whenOlder(`${name}: migrating to ${migration}`)
  }
  const { error } = await new Migrator({ db, provider: { getMigrations: async () => migrations } }).migrateToLatest()
  if (error !== undefined) throw error
}
