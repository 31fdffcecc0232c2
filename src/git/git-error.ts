type Code =
  | 'missing-object'
  | 'corrupt-object'
  | 'object-too-large'
  | 'lock-held'
  | 'git-failed'
  | 'no-git'
  | 'too-slow'
  | 'busy'
  | 'unknown-outcome'
  | 'bad-ref'
  | 'bad-request'
  | 'path-taken'

/** Failure of the git store. The message is for operators and logs, never for an API answer. */
export class GitError extends Error {
  /** Kind of failure. `no-git`: git could not be started. */
  readonly code: Code

  constructor(code: Code, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

export function corruptObject(message: string, options?: ErrorOptions): GitError {
  return new GitError('corrupt-object', message, options)
}
