/** Thrown if no slot is free: too many tasks are waiting, the task has waited too long, or the slots are closed. */
export class SlotError extends Error {
  readonly reason: 'queue-full' | 'waited-too-long' | 'closed'

  constructor(reason: SlotError['reason']) {
    super(`No slot is free: ${reason}`)
    this.reason = reason
  }
}

/** Caller, repository and tenant of a task. Each is limited separately. */
export type SlotClaim = { key: string; repository?: string; tenant?: string }

export type SlotLimits = {
  /** Maximum concurrent tasks of a key. Repositories and tenants are unlimited by default. */
  perKey: number
  perRepository?: number
  perTenant?: number
  inAll: number
  /** Maximum waiting tasks. */
  waiting: number
  waitingPerKey: number
  /** Maximum milliseconds that a task waits; absent: unlimited. */
  patience?: number
}

type Waiting = { claim: SlotClaim; start(): void; giveUp(reason: unknown): void }

/**
 * Limits the number of concurrent tasks, such as git processes. A task without a free slot waits. Keys are served in turn, the tasks of one
 * key in order of arrival, so a key with many tasks does not delay the others.
 */
export class FairSlots {
  readonly #limits: SlotLimits
  readonly #running = new Map<string, number>()
  /** Waiting tasks by key. A key that was served moves to the end. */
  readonly #queues = new Map<string, Set<Waiting>>()
  #waiting = 0
  #isClosed = false

  constructor(limits: SlotLimits) {
    this.#limits = limits
  }

  /**
   * Waits for a slot.
   * @returns a function that frees the slot; further calls do nothing
   * @throws {SlotError}; the signal's reason if it aborts first
   */
  async take(claim: SlotClaim, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted()
    if (this.#isFree(claim)) this.#count(claim, 1)
    else await this.#wait(claim, signal)
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      this.#count(claim, -1)
      this.#startWaiting()
    }
  }

  /** Rejects all waiting tasks, and all later ones that would have to wait. */
  close(): void {
    this.#isClosed = true
    for (const queue of [...this.#queues.values()]) {
      for (const waiting of [...queue]) waiting.giveUp(new SlotError('closed'))
    }
  }

  #wait(claim: SlotClaim, signal: AbortSignal): Promise<void> {
    if (this.#isClosed) throw new SlotError('closed')
    const queue = this.#queues.get(claim.key) ?? new Set()
    if (this.#waiting >= this.#limits.waiting || queue.size >= this.#limits.waitingPerKey) {
      throw new SlotError('queue-full')
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const leave = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
      queue.delete(waiting)
      this.#waiting--
      if (queue.size === 0) this.#queues.delete(claim.key)
    }
    const waiting: Waiting = {
      claim,
      start: () => {
        leave()
        this.#count(claim, 1)
        resolve()
      },
      giveUp: (reason) => {
        leave()
        reject(reason)
      },
    }
    const abort = () => waiting.giveUp(signal.reason)
    const { patience } = this.#limits
    const late = () => waiting.giveUp(new SlotError('waited-too-long'))
    const timer = patience === undefined ? undefined : setTimeout(late, patience)
    signal.addEventListener('abort', abort)
    queue.add(waiting)
    this.#queues.set(claim.key, queue)
    this.#waiting++
    return promise
  }

  /** Starts waiting tasks while slots are free: at most one of a key before the next key has its turn. */
  #startWaiting(): void {
    for (let hasStarted = true; hasStarted; ) {
      hasStarted = false
      for (const [key, queue] of [...this.#queues]) {
        const next = [...queue].find(({ claim }) => this.#isFree(claim))
        if (next === undefined) continue
        hasStarted = true
        next.start()
        if (this.#queues.delete(key) && queue.size > 0) this.#queues.set(key, queue)
      }
    }
  }

  #isFree(claim: SlotClaim): boolean {
    return this.#countersOf(claim).every(([name, limit]) => (this.#running.get(name) ?? 0) < limit)
  }

  #count(claim: SlotClaim, change: 1 | -1): void {
    for (const [name] of this.#countersOf(claim)) {
      const running = (this.#running.get(name) ?? 0) + change
      if (running > 0) this.#running.set(name, running)
      else this.#running.delete(name)
    }
  }

  #countersOf({ key, repository, tenant }: SlotClaim): [name: string, limit: number][] {
    const { perKey, perRepository, perTenant, inAll } = this.#limits
    const counters: [name: string, limit: number | undefined][] = [
      ['all', inAll],
      [`tenant ${tenant}`, perTenant],
      [`repository ${repository}`, perRepository],
      [`key ${key}`, perKey],
    ]
    return counters.flatMap(([name, limit]) => (limit === undefined ? [] : [[name, limit]]))
  }
}
