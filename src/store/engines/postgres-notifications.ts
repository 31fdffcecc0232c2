import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { Client, type ClientConfig } from 'pg'
import { Notifications, type Topic } from '../notifications.ts'
import type { Schema } from '../schema.ts'

const channel = 'ganglion'
/** Milliseconds between two questions whether the connection still stands: one that is gone without a word is noticed by that. */
const heartbeatMs = 10_000
/** Milliseconds between two attempts to listen again. Meanwhile all that listens is woken as often. */
const pollMs = 1_000

/**
 * Tells every process that uses the database, by `LISTEN` and `NOTIFY`. A notification is sent in the transaction that writes what it
 * tells of. The connection that listens is opened with the first listener.
 */
export class PostgresNotifications extends Notifications {
  readonly #options: ClientConfig
  /** This process is told at once: what comes back from the server is of no use to it. */
  readonly #origin = randomBytes(6).toString('base64url')
  readonly #closing = new AbortController()
  #listening: Promise<void> | undefined

  constructor(options: ClientConfig) {
    super()
    this.#options = { ...options, query_timeout: heartbeatMs }
  }

  override async send(db: Kysely<Schema>, topic: Topic, subject: string): Promise<void> {
    await sql`select pg_notify(${channel}, ${[this.#origin, topic, subject].join(' ')})`.execute(db)
    await super.send(db, topic, subject)
  }

  override listen(topic: Topic, listener: (subject: string | undefined) => void): () => void {
    this.#listening ??= this.#keepListening()
    return super.listen(topic, listener)
  }

  override async close(): Promise<void> {
    this.#closing.abort()
    await this.#listening
  }

  async #keepListening(): Promise<void> {
    const { signal } = this.#closing
    while (!signal.aborted) {
      await this.#listenOnce().catch(() => {})
      await delay(pollMs, undefined, { signal }).catch(() => {})
      this.deliverAll()
    }
  }

  /** Listens until the connection is lost. */
  async #listenOnce(): Promise<void> {
    const client = new Client(this.#options)
    const lost = new AbortController()
    const { signal } = this.#closing
    const over = AbortSignal.any([signal, lost.signal])
    client.on('error', () => lost.abort()).on('end', () => lost.abort())
    client.on('notification', ({ payload = '' }) => this.#receive(payload))
    try {
      await client.connect()
      await client.query(`listen ${channel}`)
      this.deliverAll()
      while (!over.aborted) {
        await delay(heartbeatMs, undefined, { signal: over }).catch(() => {})
        if (!over.aborted) await client.query('select 1')
      }
    } finally {
      await client.end().catch(() => {})
    }
  }

  #receive(payload: string): void {
    const [origin, topic, subject] = payload.split(' ')
    if (origin !== this.#origin) this.deliver(topic as Topic, subject)
  }
}
