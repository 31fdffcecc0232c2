import { type Kysely, sql, type Transaction } from 'kysely'
import type { Schema } from '../schema.ts'
import { copiedTables, copyRows, numberedTables } from '../state-tables.ts'
import { openSqlite } from './sqlite.ts'

/** Inserts the state that a SQLite file holds, which is migrated where needed, into a PostgreSQL database that is vacant. */
export async function loadPostgres(target: Transaction<Schema>, file: string): Promise<void> {
  const { db: source, close } = await openSqlite(file)
  try {
    for (const table of copiedTables) await copyRows(source, target, table)
    for (const table of numberedTables) await copyLastId(source, target, table)
  } finally {
    await close()
  }
}

async function copyLastId(source: Kysely<Schema>, target: Transaction<Schema>, table: string): Promise<void> {
  const { rows } = await sql<{ seq: number }>`select seq from sqlite_sequence where name = ${table}`.execute(source)
  const last = rows[0]?.seq ?? 0
  if (last > 0) await sql`select setval(pg_get_serial_sequence(${table}, 'id'), ${last})`.execute(target)
}
