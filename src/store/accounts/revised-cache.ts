import { LRUCache } from 'lru-cache'
import { coalesce } from '../concurrency/coalesce.ts'

/**
 * Keeps what was read from a database in memory for as long as nothing in it has changed. A database that does not tell whether it has
 * changed is read for each request; those that come while it is read share the next read, so that each sees what was true when it came.
 */
export class RevisedCache<Value extends object> {
  readonly #revision: () => string | undefined
  readonly #values: LRUCache<string, Value>
  /** Under way, where the database has no revision. */
  readonly #reads = new Map<string, () => Promise<Value | undefined>>()
  #known = ''

  /** @param revision see `Database.revision` */
  constructor(revision: () => string | undefined, { max }: { max: number }) {
    this.#revision = revision
    this.#values = new LRUCache({ max })
  }

  /** Returns the value under a key, read now or before. What is not there is not remembered. */
  async get(key: string, read: () => Promise<Value | undefined>): Promise<Value | undefined> {
    // Before it is read: a change meanwhile makes the value one of an old revision.
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
