/** Forges that have an adapter. */
export const forgeKinds = ['github', 'gitea', 'forgejo', 'gitlab'] as const
export type ForgeKind = (typeof forgeKinds)[number]

/** Somebody on a forge: a person, or a program. `id` is the login, which others of the forge cannot take. */
export type ForgeAccount = { id: string; name: string }

/** A pull request, or a merge request where a forge calls it so. */
export type PullRequest = {
  /** As people name it: GitLab's `iid`, not its `id`. */
  number: number
  /** Of its page. */
  url: string
  state: 'open' | 'closed' | 'merged'
  title: string
  body: string
  /** The branch that is to be merged, without `refs/heads/`. */
  branch: string
  /** Whether that branch is in the linked repository; else it is in a fork. */
  isOwnBranch: boolean
  /** The commit at the tip of that branch. */
  head: string
  /** The branch into which it is to be merged. */
  base: string
  author: ForgeAccount
  labels: readonly string[]
  isDraft: boolean
  /** ISO 8601, UTC. It grows with each comment, review, push and edit. */
  updatedAt: string
  /** Of a merged one: who merged it (only from {@link Forge.pull}), and the commit that this left on the base branch. */
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

/** What somebody said on a pull request: a comment, one on a line, or the text of a review. */
export type Remark = {
  /** Never that of another remark of the repository, whatever its sort. */
  id: string
  number: number
  author: ForgeAccount
  /** Markdown, as written. */
  text: string
  /** ISO 8601, UTC: when it was written. */
  at: string
  /** Of the remark itself. */
  url: string
}

export type ReportedFinding = { path: string; line: number; severity: 'error' | 'warning'; message: string }

export type Report = {
  /** The commit, which is the head of the pull request. */
  head: string
  /** That of the pull request: some forges report on a commit of a branch, and another branch may have the commit too. */
  branch: string
  number: number
  /**
   * `waiting`: nothing is wrong, and a curator is to decide. `blocked`: further people have to approve, and a merge by anybody would not
   * be taken.
   */
  outcome: 'passed' | 'failed' | 'waiting' | 'blocked'
  title: string
  summary: string
  findings: readonly ReportedFinding[]
  /** Where the candidate can be decided on; undefined where the server has no public address. */
  url: string | undefined
}

/** How git reaches the repository. The password may expire after {@link minAccessMs}: ask again for each push or fetch. */
export type GitAccess = { url: string; username: string; password: string }

/** Milliseconds for which what {@link Forge.access} gives holds at least. */
export const minAccessMs = 5 * 60_000

/** The longest texts, in characters, that a forge takes, and the most findings in one report. */
export type ForgeLimits = { title: number; body: number; remark: number; findings: number }

/**
 * One repository on a forge, accessed with one credential. It keeps only what saves requests (ETags, tokens); the caller makes sure that
 * nothing is done twice. Each method sends as few requests as the forge allows, honours its rate limits, and throws `ForgeError`:
 * `rate-limited` with `until`, `refused`, `gone`, `conflict`, `unreachable`, `unexpected`. A call that throws `unreachable` may have
 * had its effect.
 */
export type Forge = {
  readonly kind: ForgeKind
  readonly limits: ForgeLimits
  /** Whether people see the summary of a report beside the pull request: elsewhere it needs a comment. */
  readonly showsSummary: boolean
  /** The account that the credential belongs to. Also tells whether the credential is valid. */
  who(): Promise<ForgeAccount>
  access(): Promise<GitAccess>
  /** Whether others can read the repository than those who were let in there: all people, or all who have an account. */
  isPublic(): Promise<boolean>
  /** All open pull requests of any author, oldest first. With ETags, an unchanged list does not count against a rate limit. */
  openPulls(): Promise<PullRequest[]>
  pull(number: number): Promise<PullRequest>
  /** Those that were merged into a branch since a time (ISO 8601, UTC), and maybe some before. */
  recentlyMerged(base: string, since: string): Promise<PullRequest[]>
  /** The commits of one pull request, also of a merged one: those of its branch that its base did not have. */
  commitsOf(number: number): Promise<string[]>
  /**
   * Asks accounts to review a pull request, in addition to those asked before.
   * @throws {ForgeError} `conflict` if the forge does not ask one of them, as its author
   */
  requestReviews(number: number, logins: readonly string[]): Promise<void>
  /** Whether somebody may close pull requests of others. */
  mayClose(login: string): Promise<boolean>
  /** The newest pull request of a branch of the repository into another, whatever became of it. */
  pullOfBranch(branch: string, base: string): Promise<PullRequest | undefined>
  /**
   * Where drafts are not to be had, the pull request is none, and has the label `draft`.
   * @throws {ForgeError} `conflict` where the branch has an open one, or nothing to merge
   */
  open(pull: NewPullRequest): Promise<PullRequest>
  /** Sets what is given. Labels are added, and none is taken away. A draft stays one: only people say that it is ready. */
  update(number: number, changes: { title?: string; body?: string; labels?: readonly string[] }): Promise<void>
  close(number: number): Promise<void>
  /** @throws {ForgeError} `conflict` where it was merged, or its branch is gone */
  reopen(number: number): Promise<void>
  comment(number: number, text: string): Promise<Remark>
  /** Replaces the text of one of the account's own comments, by its id. @throws {ForgeError} `gone` if it was deleted */
  editComment(number: number, id: string, text: string): Promise<void>
  /** All that was said on one pull request, oldest first. */
  remarksOf(number: number): Promise<Remark[]>
  /**
   * What was said on pull requests since a time (undefined: ever), oldest first. It may hold some that are older, and must hold all that
   * are not; `pulls` are those that matter, as they were last listed: others may be left out.
   * @param since ISO 8601, UTC, by the clock of the forge
   */
  remarksSince(since: string | undefined, pulls: readonly PullRequest[]): Promise<Remark[]>
  /** Reports what a check found. It replaces an earlier report for the same commit. */
  report(report: Report): Promise<void>
  /** Where git finds the head of a pull request, from forks too: `refs/pull/7/head`. */
  headRef(number: number): string
}

/** A webhook's delivery as it came. Header names are in lower case. */
export type Delivery = { headers: Readonly<Record<string, string | string[] | undefined>>; body: Buffer }
