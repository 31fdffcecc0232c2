import type { Piscina } from 'piscina'

export type TaskPoolOptions = {
  /** The module whose default export does a task. */
  worker: URL
  /** Milliseconds that a task may take once it runs. Its wait for others does not count. */
  timeLimitMs: number
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

/** Does tasks that take a while in a thread, one after the other. The thread starts with the first and ends when idle. */
export class TaskPool<Task, Result> {
  readonly #options: TaskPoolOptions
  #pool: Promise<Piscina<Task, Result>> | undefined
  #tasks = 0
  /** Ends with the last task that was given. */
  #last: Promise<unknown> = Promise.resolve()
  #isClosed = false

  constructor(options: TaskPoolOptions) {
    this.#options = options
  }

  /** @throws {TaskFailed} */
  async run(task: Task): Promise<Result> {
    const { worker, timeLimitMs, maxTasks, waitLimitMs = Number.POSITIVE_INFINITY } = this.#options
    if (this.#tasks >= maxTasks) throw new TaskFailed('too many tasks wait')
    this.#tasks++
    try {
      this.#pool ??= startPool({ worker, maxThreads: 1, idleTimeout })
      const pool = await this.#pool
      if (this.#isClosed) throw new Error('The pool is closed.')
      const begin = performance.now()
      const done = this.#last.then(() => {
        if (performance.now() - begin > waitLimitMs) throw new Error('The task waited too long.')
        return pool.run(task, { signal: AbortSignal.timeout(timeLimitMs) })
      })
      this.#last = done.catch(() => undefined)
      return await done
    } catch (cause) {
      throw new TaskFailed('the task was not done', { cause })
    } finally {
      this.#tasks--
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
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
