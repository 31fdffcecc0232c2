import { type Kysely, sql, type Transaction } from 'kysely'
import type { Schema } from './schema.ts'

type StateRow = Record<string, unknown>

/** Tables, and whether a copy of the state contains their rows. A table comes after those that it refers to. */
const tables = {
  ...{ tenants: true, knowledge_bases: true, api_keys: true, idempotency_keys: true },
  ...{ users: true, memberships: true, sessions: true, one_time_links: true, audit: true, tour_marks: true },
  oauth_records: true,
  ...{ chat_sessions: true, chat_turns: true, asked_questions: true, opened_results: true, sites: true },
  ...{ events: true, event_counters: true, event_cursors: true },
  ...{ sources: true, uploads: true, jobs: true },
  ...{ webhooks: true, webhook_deliveries: true, notices: true, notice_cursors: true },
  ...{ forge_links: true, forge_pulls: true, stamps: true },
  // Over within minutes.
  rate_uses: false,
  // Rows that name objects of one bucket.
  ...{ repositories: false, repository_refs: false, repository_packs: false, upload_chunks: false, blob_keys: false },
} satisfies Record<keyof Schema, boolean>

type Table = keyof typeof tables

/** Tables whose rows are in every copy of the state, in the order in which they are inserted. */
export const copiedTables = (Object.keys(tables) as Table[]).filter((table) => tables[table])

/** Copied tables whose `id` the database counts up. No id is used again, even after its row was deleted. */
export const numberedTables = ['audit', 'webhook_deliveries'] as const

/** SQLite takes 32,766 values in a statement. */
const rowsAtOnce = 500

/** Copies the rows of a table. @param source on PostgreSQL a transaction */
export async function copyRows(source: Kysely<Schema>, target: Transaction<Schema>, table: Table): Promise<void> {
  let rows: StateRow[] = []
  for await (const row of source.selectFrom(table).selectAll().stream(rowsAtOnce)) {
    rows.push(row)
    if (rows.length < rowsAtOnce) continue
    await insertRows(target, table, rows)
    rows = []
  }
  await insertRows(target, table, rows)
}

/** Inserts rows that all have the same columns. */
async function insertRows(db: Kysely<Schema>, table: string, rows: readonly StateRow[]): Promise<void> {
  const [first] = rows
  if (first === undefined) return
  const columns = Object.keys(first)
  const values = rows.map((row) => sql`(${sql.join(columns.map((column) => row[column]))})`)
  const names = sql.join(columns.map((column) => sql.ref(column)))
  await sql`insert into ${sql.table(table)} (${names}) values ${sql.join(values)}`.execute(db)
}

/** Whether all tables are empty, apart from short-lived rows and the mark of a restore that has begun. */
export async function isVacant(db: Kysely<Schema>): Promise<boolean> {
  for (const table of [...copiedTables, 'repositories'] as const) {
    const other = table === 'stamps' ? sql`where name <> 'restore'` : sql``
    const { rows } = await sql`select 1 from ${sql.table(table)} ${other} limit 1`.execute(db)
    if (rows.length > 0) return false
  }
  return true
}
