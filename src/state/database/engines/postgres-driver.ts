import { setTimeout as delay } from 'node:timers/promises'
import { CompiledQuery, type DatabaseConnection, type Driver, type QueryResult, type TransactionSettings } from 'kysely'
import type { Pool, PoolClient } from 'pg'
import { ConnectionLost, DatabaseUnreachable } from '../database-errors.ts'
import { isUnreachable } from '../postgres-errors.ts'

/** Milliseconds to wait for a restarting server, and between two attempts. */
const reconnectTime = 3_000
const reconnectPause = 50

/**
 * Runs Kysely's statements on a pool of `pg`. If a connection is lost, operations that were not executed, or change nothing, are
 * retried on a new one: opening a connection, the begin of a transaction, and a SELECT outside of one. Any other throws {@link
 * ConnectionLost}: its outcome is unknown.
 */
export class PostgresDriver implements Driver {
  readonly #pool: Pool

  constructor(pool: Pool) {
    this.#pool = pool
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<PostgresConnection> {
    return new PostgresConnection(this.#pool, await connect(this.#pool))
  }

  async beginTransaction(connection: PostgresConnection, settings: TransactionSettings): Promise<void> {
    const { isolationLevel, accessMode } = settings
    const isolation = isolationLevel && `isolation level ${isolationLevel}`
    await connection.begin(['begin', isolation, accessMode].filter(Boolean).join(' '))
  }

  async commitTransaction(connection: PostgresConnection): Promise<void> {
    await connection.commit()
  }

  async rollbackTransaction(connection: PostgresConnection): Promise<void> {
    await connection.rollback()
  }

  async releaseConnection(connection: PostgresConnection): Promise<void> {
    connection.release()
  }

  async destroy(): Promise<void> {
    await this.#pool.end()
  }
}

class PostgresConnection implements DatabaseConnection {
  readonly #pool: Pool
  /** Connection of the pool; undefined after its release. */
  #client: PoolClient | undefined
  #isLost = false
  #inTransaction = false

  constructor(pool: Pool, client: PoolClient) {
    this.#pool = pool
    this.#client = client
  }

  async executeQuery<Row>(compiled: CompiledQuery): Promise<QueryResult<Row>> {
    // All queries of this kind are ours and call no function that writes.
    const isRead = compiled.query.kind === 'SelectQueryNode'
    return isRead && !this.#inTransaction ? this.#runTwice(compiled) : this.#run(compiled)
  }

  /** Streams rows. Requires a transaction, with one stream at a time. */
  async *streamQuery<Row>(
    { sql, parameters }: CompiledQuery,
    chunkSize: number,
  ): AsyncIterableIterator<QueryResult<Row>> {
    await this.#query(`declare streamed cursor for ${sql}`, parameters)
    for (;;) {
      const { rows } = await this.#query(`fetch ${chunkSize} from streamed`, [])
      if (rows.length === 0) break
      yield { rows }
    }
    await this.#query('close streamed', [])
  }

  async begin(sql: string): Promise<void> {
    await this.#runTwice(CompiledQuery.raw(sql))
    this.#inTransaction = true
  }

  async commit(): Promise<void> {
    const { command } = await this.#query('commit', [])
    if (command === 'ROLLBACK') throw new Error('The transaction was rolled back: a statement of it had failed.')
    this.#inTransaction = false
  }

  /** Rolls back. Closes a connection that is lost or cannot roll back, which has the same effect. */
  async rollback(): Promise<void> {
    if (this.#isLost) return
    try {
      await this.#query('rollback', [])
      this.#inTransaction = false
    } catch {
      this.#isLost = true
    }
  }

  release(): void {
    this.#client?.release(this.#isLost)
    this.#client = undefined
  }

  async #runTwice<Row>(compiled: CompiledQuery): Promise<QueryResult<Row>> {
    try {
      return await this.#run(compiled)
    } catch (error) {
      if (!(error instanceof ConnectionLost)) throw error
      this.release()
      this.#client = await connect(this.#pool)
      this.#isLost = false
      return this.#run(compiled)
    }
  }

  async #run<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const { rows, rowCount, command } = await this.#query(sql, parameters)
    const isChange = command === 'INSERT' || command === 'UPDATE' || command === 'DELETE'
    return isChange ? { rows, numAffectedRows: BigInt(rowCount ?? 0) } : { rows }
  }

  async #query(sql: string, parameters: readonly unknown[]) {
    try {
      if (this.#client === undefined) throw new Error('The connection is released.')
      return await this.#client.query(sql, parameters.map(withoutNul))
    } catch (error) {
      if (!isUnreachable(error)) throw error
      this.#isLost = true
      throw new ConnectionLost(error)
    }
  }
}

/** Replaces NUL, which PostgreSQL's text cannot contain, so that a search for a text with NUL finds nothing. */
function withoutNul(value: unknown): unknown {
  return typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\uFFFD') : value
}

/** Returns a connection from the pool. Waits a while for a restarting server. @throws {DatabaseUnreachable} */
async function connect(pool: Pool): Promise<PoolClient> {
  const deadline = Date.now() + reconnectTime
  for (;;) {
    try {
      return await pool.connect()
    } catch (error) {
      // Retrying does not help against a wrong password or an unknown database.
      if (!isUnreachable(error) || Date.now() > deadline) throw new DatabaseUnreachable(error)
      await delay(reconnectPause)
    }
  }
}
