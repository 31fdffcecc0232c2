import type { Piscina } from 'piscina'
import { FairSlots } from './concurrency/fair-slots.ts'
import { presentCaller } from './concurrency/present-work.ts'

export type TaskPoolOptions = {
  /** The module whose default export does a task. */
  worker: URL
  /** Milliseconds that a task may take once it runs. Its wait for others does not count. */
  timeLimitMs: number
  /** Tasks that may wait, three quarters of them of one caller. */
  maxTasks: number
  /** Milliseconds that a task may wait for others; without it, as long as they take. */
  waitLimitMs?: number
}

/** A task was not done: too many wait, it waited or took too long, or its thread has ended. */
export class TaskFailed extends Error {
  override readonly name = 'TaskFailed'
}

const heapLimitMb = 256
const idleTimeout = 30_000
const never = new AbortController().signal

/**
 * Does tasks that take a while in a thread, one after the other. Callers take turns, see {@link presentCaller}. The thread starts with the first
 * task and ends when idle.
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

  /** @throws {TaskFailed} */
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

/** Threads start with their first task. `name`: of the worker's function; `idleTimeout`: milliseconds after which one without work ends. */
export async function startPool<Task, Result>({
  worker,
  ...options
}: {
  worker: URL
  name?: string
  maxThreads: number
  idleTimeout: number
}): Promise<Piscina<Task, Result>> {
  // Loaded with the first task: most commands have none.
  const library = await import('piscina')
  const pool = new library.Piscina<Task, Result>({
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
