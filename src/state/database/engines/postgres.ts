import { randomBytes } from 'node:crypto'
import { type Dialect, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler, sql } from 'kysely'
import { Client, type ClientConfig, Pool, type PoolConfig, types } from 'pg'
import type { Database } from '../database.ts'
import { migrate, type WhenOlder } from '../migrations/migrate.ts'
import { type NotificationListener, Notifications, type Topic } from '../notifications.ts'
import type { Schema } from '../schema.ts'
import { aloneOnPostgres, isServed } from './advisory-lock.ts'
import { KeptConnection, leadOnPostgres } from './kept-connection.ts'
import { nameOfAddress } from './postgres-address.ts'
import { dumpPostgres } from './postgres-copy.ts'
import { PostgresDriver } from './postgres-driver.ts'

const channel = 'ganglion'

const interval = 60_000

/** Maximum connections of one process. */
const maxConnections = 10
/** Timeouts in milliseconds: to get a connection, of a statement, of a lock, and between two statements of a transaction. */
const connectTimeout = 5_000
const statementTimeout = 30_000
const lockTimeout = 5_000
const idleInTransactionTimeout = 30_000
/** Statements to run after connecting: a pooler such as PgBouncer rejects these settings as startup parameters. */
const limits =
  `set statement_timeout = ${statementTimeout}; set lock_timeout = ${lockTimeout}; ` +
  `set idle_in_transaction_session_timeout = ${idleInTransactionTimeout}`
/** Milliseconds after which an idle connection is closed. */
const idleTime = 30_000
/** Seconds after which a connection is replaced, to find a server that has moved. */
const maxLifetime = 30 * 60

/**
 * Opens the operational state in a PostgreSQL database, migrating it if needed. Several processes may do so at once.
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
    // Detects a server that disappears silently. A running server ends statements earlier itself.
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
      ...{ db, notifications, close, [Symbol.asyncDispose]: close },
      revision: () => undefined,
      now: () => clock.now(),
      lead: async (start) => leadOnPostgres(optionsOf(address, 'ganglion leader'), start),
      alone: (work) => aloneOnPostgres(db, work),
      size: () => sizeOf(db),
      copyTo: (file) => dumpPostgres(db, file),
      isServed: () => isServed(db),
      compact: () => compact(address),
      problems: async () => [],
      check: async () => void (await sql`select 1`.execute(db)),
    }
  } catch (error) {
    await db.destroy()
    throw error
  }
}

/** Migrates on a separate connection, since it may take long. Kysely holds an advisory lock meanwhile. */
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

/** Throws if a pooler gives the session of one connection to another, which would break locks and notifications. */
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

/** Compacts on a separate connection, since it may take long. */
async function compact(address: string): Promise<void> {
  const db = connectTo({ ...optionsOf(address), max: 1 })
  try {
    // The planner's statistics contain values, too, and would keep those of a table that is empty now.
    const { rows } = await sql<{ name: string; columns: string[] }>`
      select table_name as name, array_agg(column_name::text) as columns from information_schema.columns
      where table_schema = current_schema() and data_type = 'text' group by 1`.execute(db)
    for (const { name, columns } of rows) {
      const table = sql.table(name)
      const same = columns.map((column) => sql`alter column ${sql.ref(column)} type text`)
      const { rows: some } = await sql`select 1 from ${table} limit 1`.execute(db)
      if (some.length === 0) await sql`alter table ${table} ${sql.join(same)}`.execute(db)
    }
    for (const statement of ['analyze', 'vacuum full']) await sql.raw(statement).execute(db)
    // The server does it by itself within minutes if this user may not.
    await sql`checkpoint`.execute(db).catch(() => {})
  } finally {
    await db.destroy()
  }
}

async function sizeOf(db: Kysely<Schema>): Promise<number> {
  const { rows } = await sql<{ size: number }>`select pg_database_size(current_database()) as size`.execute(db)
  return rows[0]?.size ?? 0
}

/** Returns the options of a connection. @param name shown in the server's list of connections */
function optionsOf(address: string, name = 'ganglion'): PoolConfig {
  const url = new URL(address)
  // This gives `sslmode` the same meaning as in every other client of PostgreSQL.
  url.searchParams.set('uselibpqcompat', 'true')
  return {
    connectionString: url.href,
    // Default, which the address may override.
    application_name: name,
    connectionTimeoutMillis: connectTimeout,
    keepAlive: true,
    types: { getTypeParser: parserOf },
  }
}

function connectTo(options: PoolConfig): Kysely<Schema> {
  const pool = new Pool(options)
  // A connection that breaks while idle is replaced; one in use fails its statement.
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

/** Returns a parser for a type. Counts, sums and 64-bit integers become numbers: none of ours exceeds 2^53. */
function parserOf(oid: number, format?: 'text' | 'binary') {
  if (oid === types.builtins.INT8 || oid === types.builtins.NUMERIC) return Number
  return types.getTypeParser(oid, format)
}

/** Clock of a PostgreSQL server. It is read once a minute; in between, this process's monotonic clock advances it. */
class ServerClock {
  /** Milliseconds to add to `performance.now()`. */
  #offset = 0
  readonly #timer: NodeJS.Timeout

  private constructor(db: Kysely<Schema>) {
    // A failed read is repeated after a minute.
    this.#timer = setInterval(() => this.#ask(db).catch(() => {}), interval).unref()
  }

  static async start(db: Kysely<Schema>): Promise<ServerClock> {
    const clock = new ServerClock(db)
    await clock.#ask(db)
    return clock
  }

  now(): Date {
    return new Date(this.#offset + performance.now())
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** Reads the server's clock, assuming that it was read in the middle between request and response. */
  async #ask(db: Kysely<Schema>): Promise<void> {
    const asked = performance.now()
    const { rows } = await sql<{ at: number }>`select extract(epoch from clock_timestamp()) * 1000 as at`.execute(db)
    const answered = performance.now()
    if (rows[0] !== undefined) this.#offset = rows[0].at - (asked + answered) / 2
  }
}

/**
 * Notifies every process that uses the database, by `LISTEN` and `NOTIFY`. A notification is sent in the transaction of its write. The
 * listening connection is opened with the first listener. While it is lost, all listeners are called every second.
 */
class PostgresNotifications extends Notifications {
  readonly #options: ClientConfig
  /** Marker of this process's own notifications, which it has delivered before the server returns them. */
  readonly #origin = randomBytes(6).toString('base64url')
  #connection: KeptConnection | undefined

  constructor(options: ClientConfig) {
    super()
    this.#options = options
  }

  override async send(db: Kysely<Schema>, topic: Topic, subject: string): Promise<void> {
    await sql`select pg_notify(${channel}, ${[this.#origin, topic, subject].join(' ')})`.execute(db)
    await super.send(db, topic, subject)
  }

  override listen(topic: Topic, listener: NotificationListener): () => void {
    this.#connection ??= new KeptConnection(this.#options, {
      opened: (client) => this.#begin(client),
      beat: async (client) => void (await client.query('select 1')),
      lost: () => this.deliverAll(),
    })
    return super.listen(topic, listener)
  }

  override async close(): Promise<void> {
    await this.#connection?.close()
  }

  async #begin(client: Client): Promise<void> {
    client.on('notification', ({ payload = '' }) => {
      const [origin, topic, subject] = payload.split(' ')
      if (origin !== this.#origin) this.deliver(topic as Topic, subject)
    })
    await client.query(`listen ${channel}`)
    this.deliverAll()
  }
}
