import type { Piscina } from 'piscina'
import type { BudgetTask } from './budget-task.ts'

type BudgetPoolOptions = {
  worker: URL
  /** The worker's function. */
  name: string
  maxThreads: number
  /** Milliseconds after which a thread without work ends. */
  idleTimeout: number
}

/** How often the CPU time of a thread is looked at, in milliseconds. */
const watchInterval = 250
const heapLimitMb = 256

/** Worker threads whose tasks are stopped when they have used their CPU time. Threads start with the first task. */
export class BudgetPool<Request, Result> {
  readonly #options: BudgetPoolOptions
  #pool: Piscina<BudgetTask<Request>, Result[]> | undefined
  #isClosed = false

  constructor(options: BudgetPoolOptions) {
    this.#options = options
  }

  /**
   * Has a thread do these requests. Rejects with an `AbortError` after `budget` milliseconds of CPU time, and with another error
   * when the thread fails.
   */
  async run(requests: readonly Request[], budget: number): Promise<Result[]> {
    // Loaded with the first task: most commands have none.
    const library = await import('piscina')
    if (this.#isClosed) throw new Error('The pool is closed.')
    this.#pool ??= startPool(library, this.#options)
    const pool = this.#pool
    const started = new Int32Array(new SharedArrayBuffer(8))
    const limit = new AbortController()
    let timer: NodeJS.Timeout | undefined
    let isDone = false
    const watch = async () => {
      const worker = pool.threads.find(({ threadId }) => threadId === started[0])
      // Of a thread that has just ended there is nothing to be known.
      const used = await worker?.cpuUsage().catch(() => undefined)
      if (isDone) return
      if (used !== undefined && (used.user + used.system) / 1000 - (started[1] ?? 0) > budget) limit.abort()
      else timer = setTimeout(watch, watchInterval)
    }
    void Promise.resolve(Atomics.waitAsync(started, 0, 0).value).then(() => {
      if (!isDone) timer = setTimeout(watch, watchInterval)
    })
    try {
      return await pool.run({ requests, started }, { signal: limit.signal })
    } finally {
      isDone = true
      clearTimeout(timer)
      Atomics.notify(started, 0)
    }
  }

  /** Ends all threads. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#pool?.destroy()
  }
}

function startPool<Request, Result>(
  library: Pick<typeof import('piscina'), 'Piscina'>,
  { worker, ...options }: BudgetPoolOptions,
): Piscina<BudgetTask<Request>, Result[]> {
  const pool = new library.Piscina<BudgetTask<Request>, Result[]>({
    ...options,
    filename: worker.href,
    minThreads: 0,
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: heapLimitMb },
  })
  // A thread that dies with a task rejects the task; one that dies idle is replaced when needed, and nobody waits for it.
  pool.on('error', () => undefined)
  return pool
}
