/** Thrown while requests are suspended because the language model failed a moment ago. The message is for operators. */
export class ModelPaused extends Error {
  override readonly name = 'ModelPaused'

  constructor() {
    super('it failed a moment ago, and is not asked for now')
  }
}

/** Thrown if the language model does not respond in time. */
export class ModelSilent extends Error {
  override readonly name = 'ModelSilent'
}

/** Thrown if the responses do not follow the API of the model. Counts as an outage. */
export class ModelUnusable extends Error {
  override readonly name = 'ModelUnusable'
}

/** Milliseconds of the first pause, doubled with each further failure. */
const firstPauseMs = 30_000
const longestPauseMs = 5 * 60_000
/** Statuses of a server that rejects every request, e.g. for a wrong key. */
const ofOutages: ReadonlySet<unknown> = new Set([401, 403, 408, 429])
/** Consecutive rate-limited requests after which the model counts as down: one busy minute means little. */
const maxRefused = 3

/**
 * Stops requests to a language model that is down, so that only one request waits in vain: after a failure none is sent for a
 * while; then one is, whose success lets all others through. (M. Nygard, "Release It!", 2007: circuit breaker.)
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

  /** Begins a request. Call the returned function at its end, without an error if the model has answered. @throws {ModelPaused} */
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

  /**
   * Runs a request within a time limit, and reports its end.
   * @param send gets a signal that aborts with the caller's, or at the limit
   * @param options.failed converts what `send` throws, {@link ModelSilent} at the limit, and {@link ModelPaused}
   * @throws the signal's reason once it aborts
   */
  async request<Result>(
    send: (signal: AbortSignal) => Promise<Result>,
    { signal, timeoutMs, failed }: { signal: AbortSignal; timeoutMs: number; failed: (error: unknown) => Error },
  ): Promise<Result> {
    signal.throwIfAborted()
    const limit = AbortSignal.timeout(timeoutMs)
    let report: ReturnType<CircuitBreaker['begin']> | undefined
    try {
      report = this.begin()
      const result = await send(AbortSignal.any([signal, limit]))
      report()
      return result
    } catch (error) {
      const failure = limit.aborted ? new ModelSilent('it did not answer in time', { cause: error }) : error
      report?.(signal.aborted ? signal.reason : failure)
      signal.throwIfAborted()
      throw failed(failure)
    }
  }

  #pause(): void {
    // Concurrent requests that fail together are one failure.
    if (this.#now() < this.#pausedUntil) return
    this.#pausedUntil = this.#now() + Math.min(firstPauseMs * 2 ** this.#failures, longestPauseMs)
    this.#failures++
  }
}

/** True if an error means that the model is down, not that it rejected one request. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error instanceof ModelSilent || error instanceof ModelUnusable) return true
  if (error.name === 'TimeoutError' || error instanceof TypeError) return true
  // Errors of the client have the response's status, or undefined without a response.
  if ('status' in error) return error.status === undefined || ofOutages.has(error.status) || Number(error.status) >= 500
  return isOutage(error.cause)
}

/** True if the rate limit is exceeded, but not if the account is out of credit. */
function isTooMany(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (!('status' in error)) return isTooMany(error.cause)
  return error.status === 429 && !('code' in error && error.code === 'insufficient_quota')
}
