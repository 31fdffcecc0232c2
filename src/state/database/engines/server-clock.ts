import { type Kysely, sql } from 'kysely'
import type { Schema } from '../schema.ts'

const interval = 60_000

/** The clock of a PostgreSQL server. It is asked once a minute; in between, this process's monotonic clock goes on from there. */
export class ServerClock {
  /** From that of `performance.now()`, in milliseconds. */
  #offset = 0
  readonly #timer: NodeJS.Timeout

  private constructor(db: Kysely<Schema>) {
    // What is not answered now is asked again.
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

  /** Takes the middle between question and answer as the moment when the server looked. */
  async #ask(db: Kysely<Schema>): Promise<void> {
    const asked = performance.now()
    const { rows } = await sql<{ at: number }>`select extract(epoch from clock_timestamp()) * 1000 as at`.execute(db)
    const answered = performance.now()
    if (rows[0] !== undefined) this.#offset = rows[0].at - (asked + answered) / 2
  }
}
