import { SearchTimeout } from '../search-index.ts'

/** Maximum wall-clock time of a query as a multiple of its CPU time, while it waits for other processes or the disk. */
const maxSlowdown = 10

/** Milliseconds of wall-clock time, and of CPU time of this thread. */
type Clock = { now: () => number; cpu: () => number }
const clockOfThread: Clock = {
  now: () => performance.now(),
  cpu: () => {
    const { user, system } = process.threadCpuUsage()
    return (user + system) / 1000
  },
}

/**
 * Deadline of a query. Bounds the CPU time of the thread, so that no query fails only because the machine is busy; ten times that
 * by the clock always fails.
 */
export class Deadline {
  readonly #budget: number
  readonly #clock: Clock
  readonly #cpuEnd: number
  readonly #end: number
  /** Next time to read the CPU time, which is never ahead of the clock. */
  #nextLook: number

  /** Starts the clock. @param budget milliseconds of CPU time */
  constructor(budget: number, clock: Clock = clockOfThread) {
    const now = clock.now()
    this.#budget = budget
    this.#clock = clock
    this.#cpuEnd = clock.cpu() + budget
    this.#end = now + maxSlowdown * budget
    this.#nextLook = now + budget
  }

  /** Throws if the time is over. @throws {SearchTimeout} */
  check(): void {
    const now = this.#clock.now()
    if (now <= this.#nextLook) return
    const left = this.#cpuEnd - this.#clock.cpu()
    if (left < 0 || now > this.#end) throw new SearchTimeout()
    this.#nextLook = Math.min(now + left, this.#end)
  }

  /** Returns a deadline for a part of the query, with half of the remaining time. */
  half(): Deadline {
    const left = Math.min(this.#cpuEnd - this.#clock.cpu(), this.#end - this.#clock.now(), this.#budget)
    return new Deadline(Math.max(0, left / 2), this.#clock)
  }
}
