/** Takes a turn. The returned function releases it. */
export type TakeTurn = () => Promise<() => Promise<void>>

/** Maximum milliseconds for which a turn is kept, and for which it is kept without anything to write. */
const longest = 250
const longestIdle = 15

/**
 * Turns of this process among the processes that write the same refs. A turn is kept for several batches, because the next process starts
 * by fetching what this one has written. Turns save work; correctness does not depend on them.
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
