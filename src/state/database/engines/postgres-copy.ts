import { type Kysely, sql, type Transaction } from 'kysely'
import { copiedTables, copyRows, numberedTables } from '../restored-state.ts'
import type { Schema } from '../schema.ts'
import { openSqlite } from './sqlite.ts'

/** Copies the state at one moment from PostgreSQL into a new SQLite file. */
export async function dumpPostgres(db: Kysely<Schema>, file: string): Promise<void> {
  await using copy = await openSqlite(file)
  const snapshot = db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only')
  await snapshot.execute((source) =>
    copy.db.transaction().execute(async (target) => {
      for (const table of copiedTables) await copyRows(source, target, table)
      for (const table of numberedTables) await dumpLastId(source, target, table)
    }),
  )
}

/** Inserts the state in a SQLite file, migrated if needed, into an empty PostgreSQL database. */
export async function loadPostgres(target: Transaction<Schema>, file: string): Promise<void> {
  await using database = await openSqlite(file)
  const { db: source } = database
  for (const table of copiedTables) await copyRows(source, target, table)
  for (const table of numberedTables) await loadLastId(source, target, table)
}

async function dumpLastId(source: Transaction<Schema>, target: Transaction<Schema>, table: string): Promise<void> {
  const sequence = sql`pg_get_serial_sequence(${table}, 'id')::regclass`
  const { rows } = await sql<{ last: number | null }>`select pg_sequence_last_value(${sequence}) as last`.execute(
    source,
  )
  const last = rows[0]?.last ?? 0
  await sql`delete from sqlite_sequence where name = ${table}`.execute(target)
  await sql`insert into sqlite_sequence (name, seq) values (${table}, ${last})`.execute(target)
}

async function loadLastId(source: Kysely<Schema>, target: Transaction<Schema>, table: string): Promise<void> {
  const { rows } = await sql<{ seq: number }>`select seq from sqlite_sequence where name = ${table}`.execute(source)
  const last = rows[0]?.seq ?? 0
  if (last > 0) await sql`select setval(pg_get_serial_sequence(${table}, 'id'), ${last})`.execute(target)
}
