import { AsyncLocalStorage } from 'node:async_hooks'

/** Object that uses keep open. */
export type Held = { users: number; onUnused?: () => void }

const uses = new AsyncLocalStorage<KbUse>()

/**
 * Use of knowledge bases: a request, a job or a turn of background work. Each knowledge base opened within a use stays open until it ends.
 * One opened outside of any use counts as in use for a while.
 */
export class KbUse {
  readonly #held = new Set<Held>()
  #hasEnded = false

  /** Use that the current code runs in. Timers that outlive their use have none. */
  static get current(): KbUse | undefined {
    const use = uses.getStore()
    return use === undefined || use.#hasEnded ? undefined : use
  }

  run<Result>(work: () => Result): Result {
    return uses.run(this, work)
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

/** Keeps an object open for the current use, or outside of any for some milliseconds. */
export function holdForUse(held: Held, milliseconds: number): void {
  const use = KbUse.current
  use?.hold(held)
  if (use !== undefined) return
  held.users++
  setTimeout(() => release(held), milliseconds).unref()
}

function release(held: Held): void {
  held.users--
  if (held.users === 0) held.onUnused?.()
}

/** Runs work as a use of its own, even within another one. */
export async function inUse<Result>(work: () => Promise<Result>): Promise<Result> {
  const use = new KbUse()
  try {
    return await use.run(work)
  } finally {
    use.end()
  }
}
