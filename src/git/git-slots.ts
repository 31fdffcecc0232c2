/** No git could be started: too many wait already, or one has waited for too long. */
export class GitSlotError extends Error {
  readonly reason: 'queue-full' | 'waited-too-long'

  constructor(reason: GitSlotError['reason']) {
    super(reason === 'queue-full' ? 'Too many wait for a git process' : 'No git process came free in time')
    this.name = 'GitSlotError'
    this.reason = reason
  }
}

/** Processes at once, of one repository and in all; how many may wait for one, and for how many milliseconds. */
export type SlotLimits = { perRepository: number; inAll: number; waiting: number; patience: number }

type Waiting = { repository: string; start(): void }

/** Bounds how many git processes run at once. Who came first is served first, unless its repository is busy. */
export class GitSlots {
  readonly #limits: SlotLimits
  readonly #running = new Map<string, number>()
  readonly #waiting = new Set<Waiting>()
  #inAll = 0

  constructor(limits: SlotLimits) {
    this.#limits = limits
  }

  /**
   * Waits for a slot.
   * @returns what gives it back; a second call does nothing.
   * @throws {GitSlotError}, or the signal's reason when that comes first.
   */
  async take(repository: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted()
    if (!this.#isFree(repository)) await this.#wait(repository, signal)
    else this.#occupy(repository)
    let isHeld = true
    return () => {
      if (isHeld) this.#release(repository)
      isHeld = false
    }
  }

  #wait(repository: string, signal: AbortSignal): Promise<void> {
    if (this.#waiting.size >= this.#limits.waiting) throw new GitSlotError('queue-full')
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const leave = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', giveUp)
      this.#waiting.delete(waiting)
    }
    const waiting: Waiting = {
      repository,
      start: () => {
        leave()
        this.#occupy(repository)
        resolve()
      },
    }
    const giveUp = () => {
      leave()
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      leave()
      reject(new GitSlotError('waited-too-long'))
    }, this.#limits.patience)
    signal.addEventListener('abort', giveUp)
    this.#waiting.add(waiting)
    return promise
  }

  #isFree(repository: string): boolean {
    return this.#inAll < this.#limits.inAll && (this.#running.get(repository) ?? 0) < this.#limits.perRepository
  }

  #occupy(repository: string): void {
    this.#inAll++
    this.#running.set(repository, (this.#running.get(repository) ?? 0) + 1)
  }

  #release(repository: string): void {
    this.#inAll--
    const left = (this.#running.get(repository) ?? 0) - 1
    if (left > 0) this.#running.set(repository, left)
    else this.#running.delete(repository)
    for (const waiting of [...this.#waiting]) if (this.#isFree(waiting.repository)) waiting.start()
  }
}
