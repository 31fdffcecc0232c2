import { AsyncLocalStorage } from 'node:async_hooks'

/** Object that is kept open while tasks use it. `users`: number of these tasks. */
export type Held = { users: number; onUnused?: () => void }

const works = new AsyncLocalStorage<PresentWork>()

/**
 * Task that code runs for: a request, a job or a run of background work. Objects that it holds, such as an open knowledge base, stay open
 * until it ends.
 */
export class PresentWork {
  readonly #held = new Set<Held>()
  /** Undefined once the task has ended: a timer or watcher that it started must not keep its request in memory. */
  #callerOf: (() => string) | undefined

  /** @param callerOf returns the id of the task's caller; tasks of different callers take turns when they wait for each other */
  constructor(callerOf: () => string) {
    this.#callerOf = callerOf
  }

  /** Task that the current code runs for. Timers that outlive their task have none. */
  static get current(): PresentWork | undefined {
    const work = works.getStore()
    return work === undefined || work.#callerOf === undefined ? undefined : work
  }

  /** Id of the task's caller; empty for the server's own tasks. */
  get caller(): string {
    return this.#callerOf?.() ?? ''
  }

  run<Result>(task: () => Result): Result {
    return works.run(this, task)
  }

  hold(held: Held): void {
    if (!this.#held.has(held)) held.users++
    this.#held.add(held)
  }

  end(): void {
    this.#callerOf = undefined
    for (const held of this.#held) release(held)
    this.#held.clear()
  }
}

/** Keeps an object open until the current task ends, or for some milliseconds if there is no task. */
export function holdForUse(held: Held, milliseconds: number): void {
  const work = PresentWork.current
  work?.hold(held)
  if (work !== undefined) return
  held.users++
  setTimeout(() => release(held), milliseconds).unref()
}

function release(held: Held): void {
  held.users--
  if (held.users === 0) held.onUnused?.()
}

/** Runs work as a separate task for the current caller, even within another task. */
export async function inUse<Result>(task: () => Promise<Result>): Promise<Result> {
  const caller = presentCaller()
  const work = new PresentWork(() => caller)
  try {
    return await work.run(task)
  } finally {
    work.end()
  }
}

/** Returns the id of the current task's caller; empty for the server's own tasks. */
export function presentCaller(): string {
  return PresentWork.current?.caller ?? ''
}
