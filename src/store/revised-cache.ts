import { LRUCache } from 'lru-cache'

/** Keeps what was read from a database in memory for as long as nothing in it has changed. */
export class RevisedCache<Value extends object> {
  readonly #revision: () => string | undefined
  readonly #values: LRUCache<string, Value>
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
    if (revision === undefined) return read()
    if (revision !== this.#known) this.#values.clear()
    this.#known = revision
    const known = this.#values.get(key)
    if (known !== undefined) return known
    const value = await read()
    if (value !== undefined && this.#known === revision) this.#values.set(key, value)
    return value
  }
}
