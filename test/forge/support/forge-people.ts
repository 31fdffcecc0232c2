import type { ForgeGit, MergeMethod } from './forge-git.ts'

export type FakePull = {
  number: number
  title: string
  body: string
  branch: string
  base: string
  state: 'open' | 'closed' | 'merged'
  author: string
  labels: string[]
  /** The commit at the tip of its branch, or where that was when it was closed. */
  head: string
  updatedAt: Date
  mergedBy?: string
  mergeCommit?: string
  /** Commits at the merge; see {@link ForgePeople.commitsOf}. */
  commits?: string[]
  /** Accounts that were asked to review it. */
  reviewers?: string[]
}
export type FakeRemark = {
  id: number
  number: number
  author: string
  text: string
  at: Date
  sort: 'comment' | 'review' | 'system'
  /** Comments of a review on lines. */
  lines: { id: number; path: string; text: string }[]
}
export type FakeStatus = { sha: string; ref?: string; state: string; text: string }

/** Readers of a repository: those with access, everybody with an account, everybody. */
export type Visibility = 'private' | 'internal' | 'public'

/** Thrown if a forge refuses a request, with the status of its answer. */
export class Refusal extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** Whom the token of the tests belongs to. */
export const owner = 'acme'
/** Accounts that may write remarks, and nothing else. */
export const strangers: ReadonlySet<string> = new Set(['mallory'])
export const tokenOf = (login: string) => `token-${login}`

/** A forge without its API: what people and programs do on it, and what becomes of pull requests as branches move. */
export class ForgePeople {
  readonly git: ForgeGit
  readonly all: FakePull[] = []
  readonly remarks: FakeRemark[] = []
  readonly statuses: FakeStatus[] = []
  visibility: Visibility = 'private'
  readonly #draftPrefix: string
  readonly #headRef: (number: number) => string
  #lastId = 100

  /** @param draftPrefix what a draft's title begins with */
  constructor(git: ForgeGit, draftPrefix: string, headRef: (number: number) => string) {
    this.git = git
    this.#draftPrefix = draftPrefix
    this.#headRef = headRef
  }

  newId(): number {
    return ++this.#lastId
  }

  find(number: number): FakePull {
    const pull = this.all.find((each) => each.number === number)
    if (pull === undefined) throw new Refusal(404, 'Not Found')
    return pull
  }

  isDraft({ title }: FakePull): boolean {
    return title.startsWith(this.#draftPrefix)
  }

  open(
    author: string,
    { base = 'main', ...made }: Pick<FakePull, 'branch' | 'title' | 'body' | 'labels'> & { base?: string },
  ): FakePull {
    const head = this.git.head(`refs/heads/${made.branch}`)
    if (head === undefined) throw new Refusal(404, 'There is no such branch')
    if (this.all.some((pull) => pull.state === 'open' && pull.branch === made.branch && pull.base === base))
      throw new Refusal(409, 'There is one already')
    const pull: FakePull = {
      ...made,
      base,
      number: this.all.length + 1,
      author,
      state: 'open',
      head,
      updatedAt: new Date(),
    }
    this.all.push(pull)
    this.git.setRef(this.#headRef(pull.number), head)
    return pull
  }

  setState(number: number, state: 'open' | 'closed'): FakePull {
    const pull = this.find(number)
    if (pull.state === 'merged') throw new Refusal(412, 'It was merged')
    if (state === 'open' && this.git.head(`refs/heads/${pull.branch}`) === undefined)
      throw new Refusal(422, 'Its branch is gone')
    return this.change(number, { state })
  }

  change(number: number, changes: Partial<FakePull>): FakePull {
    return Object.assign(this.find(number), changes, { updatedAt: new Date() })
  }

  say(author: string, number: number, text: string, sort: FakeRemark['sort'] = 'comment'): FakeRemark {
    this.change(number, {})
    const remark: FakeRemark = { id: this.newId(), number, author, text, sort, at: new Date(), lines: [] }
    this.remarks.push(remark)
    return remark
  }

  reword(id: number, text: string): FakeRemark {
    const remark = this.remarks.find((each) => each.id === id)
    if (remark === undefined) throw new Refusal(404, 'Not Found')
    return Object.assign(remark, { text })
  }

  ready(number: number): FakePull {
    const { title } = this.find(number)
    return this.change(number, {
      title: title.startsWith(this.#draftPrefix) ? title.slice(this.#draftPrefix.length) : title,
    })
  }

  /** Presses the button. @returns main's new head */
  merge(login: string, number: number, method: MergeMethod = 'merge'): string {
    this.look()
    const pull = this.find(number)
    const commits = this.commitsOf(number)
    if (this.isDraft(pull)) throw new Error('Drafts cannot be merged.')
    const mergeCommit = this.git.merge(pull.head, method, `${pull.title} (#${number})`)
    if (mergeCommit === undefined) throw new Error(`The pull request ${number} conflicts with main.`)
    this.change(number, { state: 'merged', mergedBy: login, mergeCommit, commits })
    return mergeCommit
  }

  /** The commits of a pull request that its base does not have, or did not have when it was merged. */
  commitsOf(number: number): string[] {
    const { commits, base, head } = this.find(number)
    return commits ?? this.git.commitsBetween(base, head)
  }

  /** Branches may have moved. */
  look(): void {
    const heads = this.git.heads()
    for (const { number, state, branch, head } of this.all) {
      const tip = heads.get(branch)
      if (state !== 'open' || tip === undefined || tip === head) continue
      this.change(number, { head: tip })
      this.git.setRef(this.#headRef(number), tip)
    }
  }

  /** After a push a pull request whose branch is gone is closed, and one whose head is in main is merged where the forge looks for that. */
  notePush(seesMerges = true): void {
    this.look()
    const heads = this.git.heads()
    const merged = seesMerges && heads.has('main') ? this.git.merged() : new Set()
    for (const { number, state, branch, base, head } of this.all) {
      if (state !== 'open') continue
      if (base === 'main' && merged.has(branch))
        this.change(number, { state: 'merged', mergedBy: owner, mergeCommit: head })
      else if (!heads.has(branch)) this.change(number, { state: 'closed' })
    }
  }
}
