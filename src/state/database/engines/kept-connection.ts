import { setTimeout as delay } from 'node:timers/promises'
import { Client, type ClientConfig } from 'pg'
import { servedLock } from './advisory-lock.ts'

/** Id of the leader's advisory lock; see {@link servedLock}. */
const leaderLock = '7418209336153001'

/** Milliseconds between two checks of the connection, which detect a silent loss. */
const heartbeatMs = 5_000
/** Milliseconds before a lost connection is opened again, and between two attempts. */
const pauseMs = 1_000

type Uses = {
  /** Called after a connection was opened. */
  opened?(client: Client): Promise<void>
  /** Called after a check of the connection has succeeded. */
  beat(client: Client): Promise<void>
  /** Called when the connection is lost or cannot be opened, and again with each failed attempt. */
  lost(): void | Promise<void>
}

/** Connection to PostgreSQL that is opened again whenever it is lost. */
export class KeptConnection {
  readonly #options: ClientConfig
  readonly #uses: Uses
  readonly #closing = new AbortController()
  readonly #running: Promise<void>

  constructor(options: ClientConfig, uses: Uses) {
    this.#options = { ...options, query_timeout: heartbeatMs }
    this.#uses = uses
    this.#running = this.#keep()
  }

  /** Closes the connection, and calls {@link Uses.lost} for the last time. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.#running
  }

  async #keep(): Promise<void> {
    const { signal } = this.#closing
    while (!signal.aborted) {
      await this.#once().catch(() => {})
      await this.#uses.lost()
      await delay(pauseMs, undefined, { signal }).catch(() => {})
    }
  }

  /** Opens a connection and checks it until it is lost. */
  async #once(): Promise<void> {
    const client = new Client(this.#options)
    const lost = new AbortController()
    const over = AbortSignal.any([this.#closing.signal, lost.signal])
    client.on('error', () => lost.abort()).on('end', () => lost.abort())
    try {
      await client.connect()
      // Keepalives let the server detect that this machine is gone, and release its locks.
      await client.query('set tcp_keepalives_idle = 10; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 3')
      await this.#uses.opened?.(client)
      while (!over.aborted) {
        await this.#uses.beat(client)
        await delay(heartbeatMs, undefined, { signal: over }).catch(() => {})
      }
    } finally {
      await client.end().catch(() => {})
    }
  }
}

/**
 * Runs a duty in one of all processes that use the database: the one that holds an advisory lock, which PostgreSQL releases when its
 * connection ends. If a network is cut, two may run it until the first notices.
 * @param start starts the duty, and returns a function that stops it
 * @returns a function that stops it, and leaves it to others
 */
export function leadOnPostgres(options: ClientConfig, start: () => Promise<() => unknown>): () => Promise<void> {
  let stop: (() => unknown) | undefined
  const connection = new KeptConnection(options, {
    opened: async (client) => void (await client.query('select pg_advisory_lock_shared($1)', [servedLock])),
    async beat(client) {
      if (stop !== undefined) await client.query('select 1')
      else {
        const { rows } = await client.query('select pg_try_advisory_lock($1) as taken', [leaderLock])
        if (rows[0]?.taken === true) stop = await start()
      }
    },
    async lost() {
      await stop?.()
      stop = undefined
    },
  })
  return () => connection.close()
}
