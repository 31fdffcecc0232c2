/** Kinds of forges with an adapter. */
export const forgeKinds = ['github', 'gitea', 'forgejo', 'gitlab'] as const
export type ForgeKind = (typeof forgeKinds)[number]

/** Account on a forge: a person or a program. `id`: the login, which is unique there. */
export type ForgeAccount = { id: string; name: string }

/** Pull request, called merge request by some forges. */
export type PullRequest = {
  /** Number as people know it: GitLab's `iid`, not its `id`. */
  number: number
  /** URL of the web page of the request. */
  url: string
  state: 'open' | 'closed' | 'merged'
  title: string
  body: string
  /** Branch to be merged, without `refs/heads/`. */
  branch: string
  /** True if the branch is in the linked repository, not in a fork. */
  isOwnBranch: boolean
  /** Commit at the tip of the branch. */
  head: string
  /** Branch to merge into. */
  base: string
  author: ForgeAccount
  labels: readonly string[]
  isDraft: boolean
  /** Time of the last change, ISO 8601, UTC. Advances with each comment, review, push and edit. */
  updatedAt: string
  /** Account that merged the request (only from {@link Forge.pull}), and the commit that this left on the base branch. */
  mergedBy?: ForgeAccount
  mergeCommit?: string
}

export type NewPullRequest = {
  branch: string
  base: string
  title: string
  body: string
  labels: readonly string[]
  isDraft: boolean
}

/** Remark on a pull request: a comment, one on a line, or the text of a review. */
export type Remark = {
  /** Id that is unique among all kinds of remarks of the repository. */
  id: string
  number: number
  author: ForgeAccount
  /** Markdown, as written. */
  text: string
  /** Time of writing, ISO 8601, UTC. */
  at: string
  /** URL of the remark itself. */
  url: string
}

export type ReportedFinding = { path: string; line: number; severity: 'error' | 'warning'; message: string }

export type Report = {
  /** Reported commit, which is the head of the pull request. */
  head: string
  /** Branch of the pull request: some forges report on a commit of a branch, and another branch may have the same commit. */
  branch: string
  number: number
  /** Outcome. `waiting`: no findings, a curator must decide. `blocked`: further people must approve before main accepts a merge. */
  outcome: 'passed' | 'failed' | 'waiting' | 'blocked'
  title: string
  summary: string
  findings: readonly ReportedFinding[]
  /** URL at which the candidate can be decided on; undefined if the server has no public URL. */
  url: string | undefined
}

/** Credentials for git. The password may expire after {@link minAccessMs}: request new ones for each push or fetch. */
export type GitAccess = { url: string; username: string; password: string }

/** Minimum milliseconds for which the result of {@link Forge.access} is valid. */
export const minAccessMs = 5 * 60_000

/** Maximum lengths of texts on a forge, in characters, and maximum number of findings in one report. */
export type ForgeLimits = { title: number; body: number; remark: number; findings: number }

/**
 * One repository on a forge, accessed with one credential. An adapter keeps only state that saves requests (ETags, tokens); the caller
 * prevents duplicates. Each method sends as few requests as the forge allows, honours its rate limits, and throws `ForgeError`:
 * `rate-limited` with `until`, `refused`, `gone`, `conflict`, `unreachable`, `unexpected`. A call that throws `unreachable` may have had
 * its effect.
 */
export type Forge = {
  readonly kind: ForgeKind
  readonly limits: ForgeLimits
  /** True if the forge shows the summary of a report next to the pull request; otherwise a comment is needed. */
  readonly showsSummary: boolean
  /** Returns the account of the credential, which also checks that the credential is valid. */
  who(): Promise<ForgeAccount>
  access(): Promise<GitAccess>
  /** True if people without rights to the repository can read it: everybody, or everybody with an account. */
  isPublic(): Promise<boolean>
  /** Returns all open pull requests, oldest first. With ETags, an unchanged list does not count against a rate limit. */
  openPulls(): Promise<PullRequest[]>
  pull(number: number): Promise<PullRequest>
  /** Returns pull requests that were merged into a branch since a time (ISO 8601, UTC), and possibly some from before. */
  recentlyMerged(base: string, since: string): Promise<PullRequest[]>
  /** Returns the commits of a pull request, open or merged: those of its branch that its base did not have. */
  commitsOf(number: number): Promise<string[]>
  /**
   * Requests reviews of a pull request from accounts, in addition to earlier ones.
   * @throws {ForgeError} `conflict` if the forge does not ask one of them, such as its author
   */
  requestReviews(number: number, logins: readonly string[]): Promise<void>
  /** True if an account may close pull requests of others. */
  mayClose(login: string): Promise<boolean>
  /** Returns the newest pull request from one branch of the repository into another, in whatever state. */
  pullOfBranch(branch: string, base: string): Promise<PullRequest | undefined>
  /**
   * Opens a pull request. If the forge has no drafts, a draft is an ordinary one with the label `draft`.
   * @throws {ForgeError} `conflict` if the branch has an open one, or nothing to merge
   */
  open(pull: NewPullRequest): Promise<PullRequest>
  /** Sets the given fields. Labels are added, never removed. A draft stays one: only people mark it as ready. */
  update(number: number, changes: { title?: string; body?: string; labels?: readonly string[] }): Promise<void>
  close(number: number): Promise<void>
  /** Reopens a pull request. @throws {ForgeError} `conflict` if it was merged, or its branch is gone */
  reopen(number: number): Promise<void>
  comment(number: number, text: string): Promise<Remark>
  /** Replaces the text of one of the account's own comments, by its id. @throws {ForgeError} `gone` if it was deleted */
  editComment(number: number, id: string, text: string): Promise<void>
  /** Returns all remarks on one pull request, oldest first. */
  remarksOf(number: number): Promise<Remark[]>
  /**
   * Returns remarks on pull requests since a time (undefined: all), oldest first. The result may include older ones, and must include all
   * newer ones on `pulls`, as last listed; remarks on others may be left out.
   * @param since ISO 8601, UTC, by the clock of the forge
   */
  remarksSince(since: string | undefined, pulls: readonly PullRequest[]): Promise<Remark[]>
  /** Reports the result of a check. Replaces an earlier report for the same commit. */
  report(report: Report): Promise<void>
  /** Returns the ref of a pull request's head, also from a fork: `refs/pull/7/head`. */
  headRef(number: number): string
}

/** Webhook delivery as received. Header names are in lower case. */
export type Delivery = { headers: Readonly<Record<string, string | string[] | undefined>>; body: Buffer }

/**
 * Kind of failure. `rate-limited`: retry at `until`. `refused`: the credential is invalid, or lacks the right. `gone`: there is no such
 * repository or pull request, or the credential may not know of it. `conflict`: impossible in the present state. `unreachable`: no answer,
 * or an error of the forge; the request may have had its effect. `unexpected`: an answer that the forge's API description does not have.
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

export function isForgeError(error: unknown, ...codes: readonly ForgeErrorCode[]): error is ForgeError {
  return error instanceof ForgeError && codes.includes(error.code)
}

/** Turns a `gone` into undefined. @throws any other error */
export function unlessGone(error: unknown): undefined {
  if (!isForgeError(error, 'gone')) throw error
}
