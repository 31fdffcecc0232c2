/** Takes a turn. What it answers gives it back. */
export type TakeTurn = () => Promise<() => Promise<void>>

/** Milliseconds for which a turn is kept, and for which it is kept although there is nothing to write. */
const longest = 250
const longestIdle = 15

/**
 * The turns in which this process writes what other processes write to as well. A turn is kept for several batches, because the next
 * process begins its own by fetching what this one has written. Turns save work, and keep nothing safe.
 */
export class WriteTurns {
  readonly #take: TakeTurn
  #held: { giveBack: () => Promise<void>; until: number } | undefined
  #idle: NodeJS.Timeout | undefined

  constructor(take: TakeTurn) {
    this.#take = take
  }

  /** Runs work in a turn, one at a time. */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    clearTimeout(this.#idle)
    this.#held ??= { giveBack: await this.#take(), until: performance.now() + longest }
    try {
      return await work()
    } finally {
      if (performance.now() > this.#held.until) await this.#giveBack()
      else this.#idle = setTimeout(() => this.#giveBack(), longestIdle)
    }
  }

  async #giveBack(): Promise<void> {
    const held = this.#held
    this.#held = undefined
    await held?.giveBack()
  }
}
