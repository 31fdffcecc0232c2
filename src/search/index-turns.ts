/** Batches that are read and indexed at a time: one is read while the other is taken in. */
const atOnce = 2

type Waiting = { key: string; start: () => void }

/**
 * Turns at indexing, for all knowledge bases of a process. Of those that wait, the one that was asked last is next, and every other
 * time the one that has waited longest, so that a busy one cannot hold up the others.
 */
export class IndexTurns {
  #free = atOnce
  #isLongest = false
  #clock = 0
  readonly #waiting: Waiting[] = []
  /** Time at which each knowledge base was last asked something that its index could not answer. */
  readonly #asked = new Map<string, number>()

  /** Lets a knowledge base go before those that were asked earlier. */
  ask(key: string): void {
    this.#asked.set(key, ++this.#clock)
  }

  forget(key: string): void {
    this.#asked.delete(key)
  }

  /** Waits for a turn. @returns what ends it, to be called once */
  async take(key: string): Promise<() => void> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>((start) => void this.#waiting.push({ key, start }))
    return () => this.#end()
  }

  #end(): void {
    const next = this.#next()
    if (next === undefined) this.#free++
    else next.start()
  }

  #next(): Waiting | undefined {
    if (this.#waiting.length === 0) return undefined
    const askedAt = ({ key }: Waiting) => this.#asked.get(key) ?? 0
    const last = Math.max(...this.#waiting.map(askedAt))
    const at = this.#isLongest ? 0 : this.#waiting.findIndex((one) => askedAt(one) === last)
    this.#isLongest = !this.#isLongest
    return this.#waiting.splice(at, 1)[0]
  }
}
