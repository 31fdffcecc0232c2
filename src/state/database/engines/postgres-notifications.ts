import { randomBytes } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import type { Client, ClientConfig } from 'pg'
import { type NotificationListener, Notifications, type Topic } from '../notifications.ts'
import type { Schema } from '../schema.ts'
import { KeptConnection } from './kept-connection.ts'

const channel = 'ganglion'

/**
 * Tells every process that uses the database, by `LISTEN` and `NOTIFY`. A notification is sent in the transaction that writes what it
 * tells of. The connection that listens is opened with the first listener. While it is lost, whoever listens is woken every second.
 */
export class PostgresNotifications extends Notifications {
  readonly #options: ClientConfig
  /** This process is told at once: what comes back from the server is of no use to it. */
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
