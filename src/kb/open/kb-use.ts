import { AsyncLocalStorage } from 'node:async_hooks'

/** What is kept open by uses. */
export type Held = { users: number; onUnused?: () => void }

const uses = new AsyncLocalStorage<KbUse>()

/**
 * A request, a job or a turn of background work: each knowledge base that is opened within it stays open until it ends. What is
 * opened outside of any use counts as in use for a while.
 */
export class KbUse {
  readonly #held = new Set<Held>()
  #hasEnded = false

  /** The use that the present code runs in. A use that has ended is none: timers that it left go on. */
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

/** Keeps something open as long as the present use, or outside of any for some milliseconds. */
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

/** Runs work as a use of its own, also within another one. */
export async function inUse<Result>(work: () => Promise<Result>): Promise<Result> {
  const use = new KbUse()
  try {
    return await use.run(work)
  } finally {
    use.end()
  }
}
