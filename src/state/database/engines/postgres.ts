import { type Dialect, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler, sql } from 'kysely'
import { Client, Pool, type PoolConfig, types } from 'pg'
import type { Database } from '../database.ts'
import { migrate, type WhenOlder } from '../migrations/migrate.ts'
import type { Schema } from '../schema.ts'
import { nameOfAddress } from './postgres-address.ts'
import { PostgresDriver } from './postgres-driver.ts'
import { dumpPostgres } from './postgres-dump.ts'
import { aloneOnPostgres, leadOnPostgres } from './postgres-locks.ts'
import { PostgresNotifications } from './postgres-notifications.ts'
import { ServerClock } from './server-clock.ts'

/** Connections of one process. */
const maxConnections = 10
/** Milliseconds: until a connection is open or free, of a statement, of a wait for a lock, and between two statements of a transaction. */
const connectTimeout = 5_000
const statementTimeout = 30_000
const lockTimeout = 5_000
const idleInTransactionTimeout = 30_000
/** Set after connecting: a pooler such as PgBouncer refuses them as startup parameters. */
const limits =
  `set statement_timeout = ${statementTimeout}; set lock_timeout = ${lockTimeout}; ` +
  `set idle_in_transaction_session_timeout = ${idleInTransactionTimeout}`
/** Milliseconds after which a connection that nobody uses is closed. */
const idleTime = 30_000
/** Seconds after which a connection is replaced, so that a server that has moved is found again. */
const maxLifetime = 30 * 60

/**
 * Opens the operational state in a PostgreSQL database, migrated where needed. Several processes may do so at once.
 * Throws {@link DatabaseTooNew}, {@link DatabaseUnreachable}, or PostgreSQL's own error.
 */
export async function openPostgres(address: string, whenOlder: WhenOlder): Promise<Database> {
  await migrateDatabase(address, whenOlder)
  const db = connectTo({
    ...optionsOf(address),
    max: maxConnections,
    idleTimeoutMillis: idleTime,
    maxLifetimeSeconds: maxLifetime,
    onConnect: async (client) => void (await client.query(limits)),
    // For a server that is gone without a word. It ends statements by itself before.
    query_timeout: statementTimeout + connectTimeout,
  })
  try {
    const clock = await ServerClock.start(db)
    const notifications = new PostgresNotifications(optionsOf(address, 'ganglion notifications'))
    const close = async () => {
      clock.stop()
      await notifications.close()
      await db.destroy()
    }
    return {
      ...{ db, notifications, close },
      revision: () => undefined,
      now: () => clock.now(),
      lead: async (start) => leadOnPostgres(optionsOf(address, 'ganglion leader'), start),
      alone: (work) => aloneOnPostgres(db, work),
      size: () => sizeOf(db),
      copyTo: (file) => dumpPostgres(db, file),
      problems: async () => [],
      check: async () => void (await sql`select 1`.execute(db)),
    }
  } catch (error) {
    await db.destroy()
    throw error
  }
}

/** On a connection of its own, since it may take long. Kysely holds an advisory lock meanwhile. */
async function migrateDatabase(address: string, whenOlder: WhenOlder): Promise<void> {
  const db = connectTo({ ...optionsOf(address), max: 1 })
  try {
    const { rows } = await sql<{ server_encoding: string }>`show server_encoding`.execute(db)
    if (rows[0]?.server_encoding !== 'UTF8') throw new Error('The PostgreSQL database must have the encoding UTF8.')
    await requireSessions(address)
    const keepCopy = () => 'The PostgreSQL database is of an older version: the way back is your own backup of it.'
    await migrate(db, { applied: await appliedMigrations(db), name: nameOfAddress(address), whenOlder, keepCopy })
  } finally {
    await db.destroy()
  }
}

/** Throws if a pooler gives the session of one connection to another: locks and notifications would be lost. */
async function requireSessions(address: string): Promise<void> {
  const [one, other] = [new Client(optionsOf(address)), new Client(optionsOf(address))]
  try {
    const pids: unknown[] = []
    for (const client of [one, other]) {
      client.on('error', () => {})
      await client.connect()
      pids.push((await client.query('select pg_backend_pid() as pid')).rows[0]?.pid)
    }
    if (pids[0] !== pids[1]) return
    throw new Error(
      'The PostgreSQL database is behind a pooler in transaction mode: set pool_mode = session, or connect to the database itself.',
    )
  } finally {
    await Promise.all([one.end(), other.end()].map((ended) => ended.catch(() => {})))
  }
}

async function appliedMigrations(db: Kysely<Schema>): Promise<string[]> {
  const tables = await sql`select 1 where to_regclass('kysely_migration') is not null`.execute(db)
  if (tables.rows.length === 0) return []
  const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(db)
  return rows.map((row) => row.name)
}

async function sizeOf(db: Kysely<Schema>): Promise<number> {
  const { rows } = await sql<{ size: number }>`select pg_database_size(current_database()) as size`.execute(db)
  return rows[0]?.size ?? 0
}

/** @param name shown in the server's list of connections */
function optionsOf(address: string, name = 'ganglion'): PoolConfig {
  const url = new URL(address)
  // `sslmode` means what it means to every other client of PostgreSQL.
  url.searchParams.set('uselibpqcompat', 'true')
  return {
    connectionString: url.href,
    // Unless the address names another.
    application_name: name,
    connectionTimeoutMillis: connectTimeout,
    keepAlive: true,
    types: { getTypeParser: parserOf },
  }
}

function connectTo(options: PoolConfig): Kysely<Schema> {
  const pool = new Pool(options)
  // A connection that breaks while nobody uses it is replaced; one that is used tells its user.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  const dialect: Dialect = {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new PostgresDriver(pool),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  }
  return new Kysely<Schema>({ dialect })
}

/** Counts, sums and 64-bit integers as numbers: none of ours is beyond 2^53. */
function parserOf(oid: number, format?: 'text' | 'binary') {
  if (oid === types.builtins.INT8 || oid === types.builtins.NUMERIC) return Number
  return types.getTypeParser(oid, format)
}
