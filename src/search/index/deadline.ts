import { SearchTimeout } from '../search-index.ts'

/** How many times its CPU time a query may take by the clock, while it waits for other processes or for the disk. */
const maxSlowdown = 10

/** In milliseconds: by the clock, and the CPU time of this thread. */
type Clock = { now: () => number; cpu: () => number }
const clockOfThread: Clock = {
  now: () => performance.now(),
  cpu: () => {
    const { user, system } = process.threadCpuUsage()
    return (user + system) / 1000
  },
}

/**
 * When a query gives up. It bounds the CPU time of the thread, so that no query is rejected just because the machine is busy; ten
 * times as long by the clock is too long in any case.
 */
export class Deadline {
  readonly #budget: number
  readonly #clock: Clock
  readonly #cpuEnd: number
  readonly #end: number
  /** CPU time is never ahead of the clock: it is not looked at before. */
  #nextLook: number

  /** @param budget milliseconds of CPU time */
  constructor(budget: number, clock: Clock = clockOfThread) {
    const now = clock.now()
    this.#budget = budget
    this.#clock = clock
    this.#cpuEnd = clock.cpu() + budget
    this.#end = now + maxSlowdown * budget
    this.#nextLook = now + budget
  }

  /** @throws {SearchTimeout} */
  check(): void {
    const now = this.#clock.now()
    if (now <= this.#nextLook) return
    const left = this.#cpuEnd - this.#clock.cpu()
    if (left < 0 || now > this.#end) throw new SearchTimeout()
    this.#nextLook = Math.min(now + left, this.#end)
  }

  /** A deadline for a part of the query, which has half of the time that is left. */
  half(): Deadline {
    const left = Math.min(this.#cpuEnd - this.#clock.cpu(), this.#end - this.#clock.now(), this.#budget)
    return new Deadline(Math.max(0, left / 2), this.#clock)
  }
}
