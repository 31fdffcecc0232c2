import { threadId } from 'node:worker_threads'
import type { Piscina } from 'piscina'
import { startPool } from '../../system/task-pool.ts'

type BudgetPoolOptions = Parameters<typeof startPool>[0]

/** Interval between checks of a thread's CPU time, in milliseconds. */
const watchInterval = 250

/** Pool of worker threads whose tasks are stopped when they exceed their CPU time. Threads start with the first task. */
export class BudgetPool<Request, Result> {
  readonly #options: BudgetPoolOptions
  #pool: Promise<Piscina<BudgetTask<Request>, Result>> | undefined
  #isClosed = false

  constructor(options: BudgetPoolOptions) {
    this.#options = options
  }

  /**
   * Runs a request in a thread. Rejects with an `AbortError` after `budget` milliseconds of CPU time, and with another error if the thread
   * fails.
   */
  async run(request: Request, budget: number): Promise<Result> {
    this.#pool ??= startPool(this.#options)
    const pool = await this.#pool
    if (this.#isClosed) throw new Error('The pool is closed.')
    const started = new Int32Array(new SharedArrayBuffer(8))
    const limit = new AbortController()
    let timer: NodeJS.Timeout | undefined
    let isDone = false
    const watch = async () => {
      const worker = pool.threads.find(({ threadId }) => threadId === started[0])
      // The CPU time of a thread that has just ended cannot be read.
      const used = await worker?.cpuUsage().catch(() => undefined)
      if (isDone) return
      if (used !== undefined && (used.user + used.system) / 1000 - (started[1] ?? 0) > budget) limit.abort()
      else timer = setTimeout(watch, watchInterval)
    }
    void Promise.resolve(Atomics.waitAsync(started, 0, 0).value).then(() => {
      if (!isDone) timer = setTimeout(watch, watchInterval)
    })
    try {
      return await pool.run({ request, started }, { signal: limit.signal })
    } finally {
      isDone = true
      clearTimeout(timer)
      Atomics.notify(started, 0)
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await (await this.#pool)?.destroy()
  }
}

/**
 * Request for a worker. `started`: two cells of shared memory that are set when the work begins, to the thread's id and the CPU time that
 * it has used before, in milliseconds.
 */
export type BudgetTask<Request> = { request: Request; started: Int32Array<SharedArrayBuffer> }

/** Records in a worker that a task begins. */
export function noteStart(started: Int32Array<SharedArrayBuffer>): void {
  const { user, system } = process.threadCpuUsage()
  Atomics.store(started, 1, (user + system) / 1000)
  Atomics.store(started, 0, threadId)
  Atomics.notify(started, 0)
}
