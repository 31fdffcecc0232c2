import type { Piscina } from 'piscina'
import { FairSlots } from './concurrency/fair-slots.ts'
import { presentCaller } from './concurrency/present-work.ts'

export type TaskPoolOptions = {
  /** Module whose default export performs a task. */
  worker: URL
  /** Maximum milliseconds of a running task, without its time in the queue. */
  timeLimitMs: number
  /** Maximum waiting tasks, three quarters of them from one caller. */
  maxTasks: number
  /** Maximum milliseconds in the queue; absent: unlimited. */
  waitLimitMs?: number
}

/** Thrown if a task was not completed: too many are waiting, it waited or took too long, or its thread has ended. */
export class TaskFailed extends Error {
  override readonly name = 'TaskFailed'
}

/** Megabytes of a thread's heap. Young objects get less than by default, which a thread would keep although it gains nothing by it. */
const heapLimits = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16 }
const idleTimeout = 30_000
const never = new AbortController().signal

/**
 * Performs long tasks in a thread, one after the other. Callers take turns, see {@link presentCaller}. The thread starts with the first task and
 * ends when idle.
 */
export class TaskPool<Task, Result> {
  readonly #options: TaskPoolOptions
  readonly #slots: FairSlots
  #pool: Promise<Piscina<Task, Result>> | undefined
  #isClosed = false

  constructor(options: TaskPoolOptions) {
    this.#options = options
    const { maxTasks: waiting, waitLimitMs: patience } = options
    const slots = { perKey: 1, inAll: 1, waiting, waitingPerKey: Math.ceil(waiting * 0.75) }
    this.#slots = new FairSlots({ ...slots, ...(patience !== undefined && { patience }) })
  }

  /** Performs a task. @throws {TaskFailed} */
  async run(task: Task): Promise<Result> {
    const { worker, timeLimitMs } = this.#options
    let release = () => {}
    try {
      release = await this.#slots.take({ key: presentCaller() }, never)
      this.#pool ??= startPool({ worker, maxThreads: 1, idleTimeout })
      const pool = await this.#pool
      if (this.#isClosed) throw new Error('The pool is closed.')
      return await pool.run(task, { signal: AbortSignal.timeout(timeLimitMs) })
    } catch (cause) {
      throw new TaskFailed('the task was not done', { cause })
    } finally {
      release()
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#slots.close()
    await (await this.#pool)?.destroy()
  }
}

/** Creates a pool whose threads start with their first task. `name`: of the worker's function; `idleTimeout`: in milliseconds. */
export async function startPool<Task, Result>({
  worker,
  ...options
}: {
  worker: URL
  name?: string
  maxThreads: number
  idleTimeout: number
}): Promise<Piscina<Task, Result>> {
  // Loaded with the first task, since most commands have none.
  const library = await import('piscina')
  const pool = new library.Piscina<Task, Result>({
    ...options,
    filename: worker.href,
    minThreads: 0,
    execArgv: [],
    resourceLimits: heapLimits,
  })
  // A thread that dies during a task rejects the task. One that dies idle is replaced when needed, and its error is ignored.
  pool.on('error', () => undefined)
  return pool
}
