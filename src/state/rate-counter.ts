import { sql } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { Database } from './database/database.ts'
import { timeAfter } from './database/row-values.ts'
import { changedRows, deleteRows, findRow, isPostgres } from './database/store.ts'

/** Points counted in a span that began with the first of them, and the milliseconds until the span ends. */
export type Use = { points: number; endsIn: number }

const nothing: Use = { points: 0, endsIn: 0 }

/** Counter of points within a span of time, to limit rates. */
export interface RateCounter {
  /** Adds points, which may be negative. @returns the new count */
  add(key: string, points: number): Promise<Use>
  read(key: string): Promise<Use>
  remove(key: string): Promise<void>
}

export type CounterOptions = {
  /** Name that distinguishes the keys of this counter from those of others. */
  name: string
  /** Duration in milliseconds. */
  span: number
}

/** Returns a counter for all nodes that use the database. On SQLite, which one process uses, it counts in memory. */
export function rateCounter(database: Pick<Database, 'db' | 'now'>, options: CounterOptions): RateCounter {
  return isPostgres(database.db) ? new RowCounter(database, options) : new MemoryCounter(options)
}

/** Counter in the memory of one process. */
export class MemoryCounter implements RateCounter {
  readonly #uses: LRUCache<string, number>

  constructor({ span }: Pick<CounterOptions, 'span'>) {
    this.#uses = new LRUCache({ ttl: span, ttlAutopurge: true, noUpdateTTL: true, ttlResolution: 0, perf: Date })
  }

  async add(key: string, points: number): Promise<Use> {
    this.#uses.set(key, (this.#uses.get(key) ?? 0) + points)
    return this.read(key)
  }

  async read(key: string): Promise<Use> {
    const points = this.#uses.get(key)
    return points === undefined ? nothing : { points, endsIn: this.#uses.getRemainingTTL(key) }
  }

  async remove(key: string): Promise<void> {
    this.#uses.delete(key)
  }
}

/** Counter in rows of an unlogged table, which a crash of the server empties: writes need not wait for the disk. */
class RowCounter implements RateCounter {
  readonly #database: Pick<Database, 'db' | 'now'>
  readonly #options: CounterOptions

  constructor(database: Pick<Database, 'db' | 'now'>, options: CounterOptions) {
    this.#database = database
    this.#options = options
  }

  async add(key: string, points: number): Promise<Use> {
    const { db, now } = this.#database
    const at = now()
    const fresh = { points, ends_at: timeAfter(at, this.#options.span) }
    const isOver = sql<boolean>`rate_uses.ends_at <= ${at.toISOString()}`
    const row = await db
      .insertInto('rate_uses')
      .values({ key: this.#keyOf(key), ...fresh })
      .onConflict((conflict) =>
        conflict.column('key').doUpdateSet(({ ref, eb }) => ({
          points: eb
            .case()
            .when(isOver)
            .then(points)
            .else(eb(ref('rate_uses.points'), '+', points))
            .end(),
          ends_at: eb.case().when(isOver).then(fresh.ends_at).else(ref('rate_uses.ends_at')).end(),
        })),
      )
      .returning(['points', 'ends_at'])
      .executeTakeFirstOrThrow()
    return { points: row.points, endsIn: Date.parse(row.ends_at) - at.getTime() }
  }

  async read(key: string): Promise<Use> {
    const { db, now } = this.#database
    const row = await findRow(db, 'rate_uses', { key: this.#keyOf(key) })
    const endsIn = row === undefined ? 0 : Date.parse(row.ends_at) - now().getTime()
    return row === undefined || endsIn <= 0 ? nothing : { points: row.points, endsIn }
  }

  async remove(key: string): Promise<void> {
    await deleteRows(this.#database.db, 'rate_uses', { key: this.#keyOf(key) })
  }

  #keyOf(key: string): string {
    return `${this.#options.name} ${key}`
  }
}

/** Removes counts whose span has ended. Returns their number. */
export function sweepRates({ db, now }: Pick<Database, 'db' | 'now'>): Promise<number> {
  return changedRows(db.deleteFrom('rate_uses').where('ends_at', '<=', now().toISOString()))
}
