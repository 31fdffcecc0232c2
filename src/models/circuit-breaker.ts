/** A language model that failed a moment ago and is not asked for now. The message is for operators. */
export class ModelPaused extends Error {
  override readonly name = 'ModelPaused'

  constructor() {
    super('it failed a moment ago, and is not asked for now')
  }
}

/** A language model that does not answer in time. */
export class ModelSilent extends Error {
  override readonly name = 'ModelSilent'
}

/** A model whose answers are of no use: what answers is no such model. */
export class ModelUnusable extends Error {
  override readonly name = 'ModelUnusable'
}

/** Milliseconds of the first pause; each failure that follows doubles it. */
const firstPauseMs = 30_000
const longestPauseMs = 5 * 60_000
/** Statuses of a server that answers nobody: of a wrong key, too. */
const ofOutages: ReadonlySet<unknown> = new Set([401, 403, 408, 429])
/** Requests in a row that are too many for the model, after which it counts as down: one of a busy minute says little. */
const maxRefused = 3

/**
 * Keeps requests from a language model that is down, so that only one request waits for it in vain: after a failure none is sent
 * for a while; then one is, whose success lets all others through. (M. Nygard, "Release It!", 2007: circuit breaker.)
 */
export class CircuitBreaker {
  readonly #now: () => number
  #failures = 0
  #refused = 0
  #pausedUntil = 0
  #isTrying = false

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Begins a request, which ends with what this returns: without an error once the model has answered. @throws {ModelPaused} */
  begin(): (error?: unknown) => void {
    const isTrial = this.#failures > 0
    if (isTrial && (this.#isTrying || this.#now() < this.#pausedUntil)) throw new ModelPaused()
    this.#isTrying = isTrial
    return (error) => {
      if (isTrial) this.#isTrying = false
      if (error === undefined) this.#failures = this.#refused = 0
      else if (isOutage(error) && !(isTooMany(error) && ++this.#refused < maxRefused)) this.#pause()
    }
  }

  #pause(): void {
    // Requests that ran at once fail at once: that is one failure.
    if (this.#now() < this.#pausedUntil) return
    this.#pausedUntil = this.#now() + Math.min(firstPauseMs * 2 ** this.#failures, longestPauseMs)
    this.#failures++
  }
}

/** Whether an error says that the model is down, and not that it did not like one request. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error instanceof ModelSilent || error instanceof ModelUnusable) return true
  if (error.name === 'TimeoutError' || error instanceof TypeError) return true
  // The client's errors have the status of the answer; undefined where there was none.
  if ('status' in error) return error.status === undefined || ofOutages.has(error.status) || Number(error.status) >= 500
  return isOutage(error.cause)
}

/** Whether too much is asked at this moment, of a model that is paid for. */
function isTooMany(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (!('status' in error)) return isTooMany(error.cause)
  return error.status === 429 && !('code' in error && error.code === 'insufficient_quota')
}
