/**
 * `rate-limited`: retry at `until`. `refused`: the credential is invalid, or lacks the right. `gone`: there is no such repository or pull
 * request, or the credential may not know of it. `conflict`: impossible in the present state. `unreachable`: no answer, or an error of the
 * forge; the request may have had its effect. `unexpected`: an answer that the forge's API description does not have.
 */
export type ForgeErrorCode = 'rate-limited' | 'refused' | 'gone' | 'conflict' | 'unreachable' | 'unexpected'

/** Thrown if a forge did not fulfil a request. The message is for people, and contains no secret. */
export class ForgeError extends Error {
  readonly code: ForgeErrorCode
  /** Time to retry, if the forge tells it: always for `rate-limited`, sometimes for `unreachable`. */
  readonly until: Date | undefined

  constructor(
    code: ForgeErrorCode,
    message: string,
    { until, cause }: { until?: Date | undefined; cause?: unknown } = {},
  ) {
    super(message, { cause })
    this.code = code
    this.until = until
  }
}

/**
 * Returns no permission for an account that the repository does not know, or that our account may not ask about.
 * @throws any other error
 */
export function noPermission(error: unknown): { permission: string } {
  if (!(error instanceof ForgeError && (error.code === 'gone' || error.code === 'refused'))) throw error
  return { permission: 'none' }
}
