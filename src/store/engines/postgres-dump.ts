import { type Kysely, sql, type Transaction } from 'kysely'
import type { Schema } from '../schema.ts'
import { openSqlite } from './sqlite.ts'

/** Whether a copy has the rows of a table. What a row refers to comes before it. */
const tables = {
  ...{ tenants: true, knowledge_bases: true, api_keys: true, idempotency_keys: true },
  ...{ users: true, memberships: true, sessions: true, one_time_links: true, audit: true, tour_marks: true },
  ...{ chat_sessions: true, chat_turns: true },
  ...{ events: true, event_counters: true, event_cursors: true },
  ...{ sources: true, blob_keys: true, uploads: true, jobs: true },
  ...{ webhooks: true, webhook_deliveries: true },
  ...{ forge_links: true, forge_pulls: true, stamps: true },
  // Over within minutes.
  rate_uses: false,
  // What they name is in the bucket of a cluster.
  ...{ repositories: false, repository_refs: false, repository_packs: false, upload_chunks: false },
} satisfies Record<keyof Schema, boolean>

/** SQLite takes 32,766 values in a statement. */
const rowsAtOnce = 500

type Row = Record<string, unknown>

/** Copies the state, as it is at one moment, from PostgreSQL into a new SQLite file. */
export async function dumpPostgres(db: Kysely<Schema>, file: string): Promise<void> {
  const copy = await openSqlite(file)
  try {
    const snapshot = db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only')
    await snapshot.execute((source) =>
      copy.db.transaction().execute(async (target) => {
        for (const [table, isCopied] of Object.entries(tables)) if (isCopied) await copyTable(source, target, table)
      }),
    )
  } finally {
    await copy.close()
  }
}

async function copyTable(source: Transaction<Schema>, target: Transaction<Schema>, table: string): Promise<void> {
  await sql`declare dump cursor for select * from ${sql.table(table)}`.execute(source)
  for (;;) {
    const { rows } = await sql<Row>`fetch ${sql.lit(rowsAtOnce)} from dump`.execute(source)
    const [first] = rows
    if (first === undefined) break
    const columns = Object.keys(first)
    const values = rows.map((row) => sql`(${sql.join(columns.map((column) => row[column]))})`)
    const names = sql.join(columns.map((column) => sql.ref(column)))
    await sql`insert into ${sql.table(table)} (${names}) values ${sql.join(values)}`.execute(target)
  }
  await sql`close dump`.execute(source)
}
