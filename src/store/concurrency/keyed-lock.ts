/** Lets one work at a time be done on each of many things, in the order in which they are asked for. */
export class KeyedLock {
  readonly #last = new Map<string, Promise<unknown>>()

  async run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(key)
    const running = (before ?? Promise.resolve()).then(work, work)
    this.#last.set(key, running)
    try {
      return await running
    } finally {
      if (this.#last.get(key) === running) this.#last.delete(key)
    }
  }
}
