import { type Kysely, sql } from 'kysely'
import { isPostgres } from '../is-postgres.ts'

/** The end of a table that SQLite keeps in the order of its primary key. */
export function withoutRowid(db: Kysely<unknown>) {
  return isPostgres(db) ? sql`` : sql`without rowid`
}
