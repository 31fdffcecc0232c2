import { AsyncLocalStorage } from 'node:async_hooks'

/** Object that works keep open. `users`: the number of those. */
export type Held = { users: number; onUnused?: () => void }

const works = new AsyncLocalStorage<PresentWork>()

/**
 * The work that code runs for: a request, a job or a turn of background work. What it holds, such as a knowledge base that it opens, stays
 * open until it ends.
 */
export class PresentWork {
  /** Returns the id of the caller that the work is for. Works of different callers take turns where they wait for each other. */
  readonly callerOf: () => string
  readonly #held = new Set<Held>()
  #hasEnded = false

  constructor(callerOf: () => string) {
    this.callerOf = callerOf
  }

  /** Work that the current code runs for. Timers that outlive their work have none. */
  static get current(): PresentWork | undefined {
    const work = works.getStore()
    return work === undefined || work.#hasEnded ? undefined : work
  }

  run<Result>(task: () => Result): Result {
    return works.run(this, task)
  }

  hold(held: Held): void {
    if (!this.#held.has(held)) held.users++
    this.#held.add(held)
  }

  end(): void {
    this.#hasEnded = true
    for (const held of this.#held) release(held)
    this.#held.clear()
  }
}

/** Keeps an object open for the present work, or outside of any for some milliseconds. */
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

/** Runs a task as a work of its own for the present caller, even within another one. */
export async function inUse<Result>(task: () => Promise<Result>): Promise<Result> {
  const caller = presentCaller()
  const work = new PresentWork(() => caller)
  try {
    return await work.run(task)
  } finally {
    work.end()
  }
}

/** Returns the id of the caller that the present work is for; empty for the server's own work. */
export function presentCaller(): string {
  return works.getStore()?.callerOf() ?? ''
}
