type Closable = { close(): Promise<void> }

/** Pools of threads, one of each kind. They are shared by all data directories of the process. */
export class Threads {
  readonly #pools = new Map<new () => Closable, Closable>()

  /** Returns the pool of a kind. It is made when it is first asked for. */
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
