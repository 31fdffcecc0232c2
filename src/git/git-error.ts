/** What went wrong in the git store. The message is for operators and logs, never for an API answer. */
export class GitError extends Error {
  readonly code:
    | 'missing-object'
    | 'corrupt-object'
    | 'object-too-large'
    | 'lock-held'
    | 'git-failed'
    | 'busy'
    | 'bad-ref'
    | 'bad-request'

  constructor(code: GitError['code'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'GitError'
    this.code = code
  }
}
