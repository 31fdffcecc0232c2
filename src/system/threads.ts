type Closable = { close(): Promise<void> }

/** Thread pools, one of each kind, shared by all data directories of the process. */
export class Threads {
  readonly #pools = new Map<new () => Closable, Closable>()

  /** Returns the pool of a kind, creating it on first use. */
  of<Pool extends Closable>(Kind: new () => Pool): Pool {
    const known = this.#pools.get(Kind)
    if (known instanceof Kind) return known
    const made = new Kind()
    this.#pools.set(Kind, made)
    return made
  }

  async close(): Promise<void> {
    for (const pool of this.#pools.values()) await pool.close()
  }
}
