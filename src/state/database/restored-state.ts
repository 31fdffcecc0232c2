import { type Kysely, sql, type Transaction } from 'kysely'
import type { Schema } from './schema.ts'
import { deleteRows, findRow, updateRows } from './store.ts'
import { inTransaction } from './transaction.ts'

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

/** The database is not empty: a restore would mix its rows with those of the backup. */
class DatabaseNotVacant extends Error {
  constructor() {
    super('The database is not empty: restore into a new one.')
  }
}

/**
 * Returns the mark of a restore into the database that has begun and not ended; undefined if there is none.
 * @throws {DatabaseNotVacant}
 */
export async function unfinishedRestore(db: Kysely<Schema>): Promise<string | undefined> {
  if (!(await isVacant(db))) throw new DatabaseNotVacant()
  return (await findRow(db, 'stamps', { name: 'restore' }))?.at
}

/** Notes that a restore has begun, so that no server uses the database before its end. @throws {DatabaseNotVacant} */
export async function beginRestore(db: Kysely<Schema>, mark: string): Promise<void> {
  await inTransaction(db, async (transaction) => {
    const known = await unfinishedRestore(transaction)
    if (known === undefined) await transaction.insertInto('stamps').values({ name: 'restore', at: mark }).execute()
  })
}

class Rehearsed extends Error {}

/**
 * Checks that the database accepts all rows of a restore: inserts them and rolls back.
 * @param load inserts them
 * @throws {DatabaseNotVacant} and what the database throws for a row that it rejects
 */
export async function rehearseRestore(
  db: Kysely<Schema>,
  load: (transaction: Transaction<Schema>) => Promise<void>,
): Promise<void> {
  const rehearse = async (transaction: Transaction<Schema>) => {
    await unfinishedRestore(transaction)
    await load(transaction)
    throw new Rehearsed()
  }
  await inTransaction(db, rehearse).catch((error: unknown) => {
    if (!(error instanceof Rehearsed)) throw error
  })
}

/** Ends a restore: inserts all of its rows in one transaction. @param load inserts them @throws {DatabaseNotVacant} */
export async function finishRestore(
  db: Kysely<Schema>,
  load: (transaction: Transaction<Schema>) => Promise<void>,
): Promise<void> {
  await inTransaction(db, async (transaction) => {
    await unfinishedRestore(transaction)
    await deleteRows(transaction, 'stamps', { name: 'restore' })
    await load(transaction)
  })
}

/** Removes from a copy of the state what belonged to its processes and stores: leases, and the places of bytes. */
export async function forgetOrigin(db: Kysely<Schema>): Promise<void> {
  await updateRows(db, 'jobs', {}, { owner: null, leased_until: null })
  await updateRows(db, 'idempotency_keys', {}, { leased_until: null })
  await deleteRows(db, 'blob_keys', {})
  await deleteRows(db, 'upload_chunks', {})
  await updateRows(db, 'uploads', { finalized_at: null }, { bytes_received: 0, received_at: null })
}
