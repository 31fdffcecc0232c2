/**
 * `rate-limited`: ask again at `until`. `refused`: the credential is wrong, or may not do this. `gone`: there is no such repository or
 * pull request, or the credential may not know of it. `conflict`: not in this state. `unreachable`: no answer, or that of a forge in
 * trouble; what was asked for may have been done. `unexpected`: an answer that the forge's description does not have.
 */
export type ForgeErrorCode = 'rate-limited' | 'refused' | 'gone' | 'conflict' | 'unreachable' | 'unexpected'

/** Why a forge did not do what it was asked. The message is for people, and holds no secret. */
export class ForgeError extends Error {
  readonly code: ForgeErrorCode
  /** When to ask again, if the forge says so: always of `rate-limited`, sometimes of `unreachable`. */
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

/** What somebody may do whom the repository does not know, or of whom our account may not ask. @throws any other error */
export function noPermission(error: unknown): { permission: string } {
  if (!(error instanceof ForgeError && (error.code === 'gone' || error.code === 'refused'))) throw error
  return { permission: 'none' }
}
