import { LRUCache } from 'lru-cache'
import { coalesce } from '../../system/concurrency/coalesce.ts'
import { sharedTurn } from '../../system/concurrency/shared-turn.ts'

/**
 * Caches values read from a database until anything in it changes. Requests that arrive together share one check of the revision.
 * A database without a revision is read for each request; requests that arrive during a read share the next one. So each request
 * sees the state at its arrival, or a later one.
 */
export class RevisedCache<Value extends object> {
  readonly #revision: () => string | undefined
  readonly #values: LRUCache<string, Value>
  /** Running reads, if the database has no revision. */
  readonly #reads = new Map<string, () => Promise<Value | undefined>>()
  #known = ''

  /** Creates the cache. @param revision see `Database.revision` */
  constructor(revision: () => string | undefined, { max }: { max: number }) {
    this.#revision = revision
    this.#values = new LRUCache({ max })
  }

  /** Returns the value of a key, from the cache or by reading it. Missing values are not cached. */
  async get(key: string, read: () => Promise<Value | undefined>): Promise<Value | undefined> {
    await sharedTurn()
    // Read before the value: if something changes meanwhile, the value counts as one of the old revision and is discarded.
    const revision = this.#revision()
    if (revision === undefined) return this.#readTogether(key, read)
    if (revision !== this.#known) this.#values.clear()
    this.#known = revision
    const known = this.#values.get(key)
    if (known !== undefined) return known
    const value = await read()
    if (value !== undefined && this.#known === revision) this.#values.set(key, value)
    return value
  }

  async #readTogether(key: string, read: () => Promise<Value | undefined>): Promise<Value | undefined> {
    const known = this.#reads.get(key)
    if (known !== undefined) return known()
    const together = coalesce(read)
    this.#reads.set(key, together)
    try {
      return await together()
    } finally {
      this.#reads.delete(key)
    }
  }
}
