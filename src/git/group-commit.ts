import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import { pauses } from '../system/pauses.ts'
import { GitError } from './git-error.ts'
import type { Heads, RefMove, RefStore } from './ref-store.ts'
import type { Repository } from './repository.ts'
import { Staging } from './staging.ts'

/**
 * Follower of the commits: a projection that is updated to the refs before a batch, changed by each piece of work, and committed or rolled
 * back together with the batch.
 */
export type Follower = {
  /** Begins a transaction, which excludes other followers of the projection. The refs are read only afterwards. */
  begin(): Promise<void>
  /** Updates the projection to these heads. */
  follow(heads: Heads): Promise<void>
  /** Sets a savepoint in the transaction, for the rollback of a failing piece of work. */
  savepoint(): void
  rollbackToSavepoint(): void
  commit(heads: Heads): void
  rollback(): void
}

type Pending = {
  work: (staging: Staging) => Promise<unknown>
  /** Number of lost attempts, in which another writer was first. */
  lost: number
  resolve: (value: unknown) => void
  reject: (error: unknown) => void
}
type Outcome = { pending: Pending; settle: () => void; touched: ReadonlySet<string> }

const largestBatch = 256
const attempts = 100

/**
 * The only writer of a repository in this process. Queued work is prepared together, written in one pack, and made visible by one
 * compare-and-swap for each ref, in the order of the store's refs (group commit, as in databases). If another writer has moved a ref, the
 * batch is prepared again on top of it, together with the work queued meanwhile.
 *
 * Work must be repeatable, and must detect its own result if an earlier attempt succeeded in part.
 */
export class GroupCommit {
  readonly #repository: Repository
  readonly #store: RefStore
  readonly #follower: Follower
  #queue: Pending[] = []
  #pump: Promise<void> | undefined
  /** Promise of the last attempt. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(repository: Repository, store: RefStore, follower: Follower) {
    this.#repository = repository
    this.#store = store
    this.#follower = follower
  }

  /**
   * Runs work that may stage commits. Resolves with its result once the commits are durable and visible.
   * @throws errors of the work, whose commits are then dropped, and {GitError} `busy`
   */
  run<T>(work: (staging: Staging) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ work, lost: 0, resolve: (value) => resolve(value as T), reject })
      this.#pump ??= this.#drain()
    })
  }

  /** Updates the follower to the present refs. Does not wait for its turn to write. */
  async follow(): Promise<void> {
    await this.#attempt(() => [])
  }

  /** Resolves when no work is queued or running. */
  async settled(): Promise<void> {
    while (this.#pump !== undefined) await this.#pump
    await this.#last
  }

  async #drain(): Promise<void> {
    await nextTurn() // Work that is queued in the same turn of the event loop joins the first batch.
    while (this.#queue.length > 0) await this.#commitNext()
    this.#pump = undefined
  }

  /** Commits the next batch. Takes the queued work as late as possible, so that work that arrived during the wait joins it. */
  async #commitNext(): Promise<void> {
    let batch: readonly Pending[] | undefined
    const takeBatch = () => {
      batch = this.#queue.splice(0, largestBatch)
      return batch
    }
    try {
      const lost = await this.#store.attempt(() => this.#attempt(takeBatch))
      if (lost.length > 0) await this.#tryAgain(lost)
    } catch (error) {
      for (const pending of batch ?? takeBatch()) pending.reject(error)
    }
  }

  async #tryAgain(lost: readonly Pending[]): Promise<void> {
    for (const pending of lost) pending.lost++
    const [again, others] = [
      lost.filter(({ lost: times }) => times < attempts),
      lost.filter(({ lost: times }) => times >= attempts),
    ]
    for (const { reject } of others) reject(new GitError('busy', 'other writers kept moving the refs'))
    this.#queue.unshift(...again)
    await delay(Math.random() * Math.min(2 ** (lost[0]?.lost ?? 0), 50))
  }

  /**
   * Writes a batch; one at a time.
   * @param take called when the refs are read and followed, which may take long
   * @returns the work to repeat, because another writer was first
   */
  #attempt(take: () => readonly Pending[]): Promise<readonly Pending[]> {
    const attempt = this.#last.then(() => this.#attemptAlone(take))
    this.#last = attempt.catch(() => {})
    return attempt
  }

  async #attemptAlone(take: () => readonly Pending[]): Promise<readonly Pending[]> {
    await this.#follower.begin()
    let moved: ReadonlySet<string>
    let outcomes: Outcome[]
    try {
      const heads = await this.#store.readHeads()
      await this.#follower.follow(heads)
      const staging = new Staging(this.#repository, heads)
      outcomes = await this.#prepare(take(), staging)
      const moves = this.#movesOf(staging, heads)
      moved = await this.#publish(staging, heads, moves)
      if (moved.size === moves.length) {
        this.#commitFollower(new Map(this.#store.refs.map((ref) => [ref, staging.head(ref)])), moved)
        for (const { settle } of outcomes) settle()
        return []
      }
    } catch (error) {
      this.#follower.rollback()
      throw error
    }
    // Work whose refs were all moved is done, so the follower reads it from git later.
    this.#follower.rollback()
    const done = outcomes.filter(({ touched }) => touched.size > 0 && touched.isSubsetOf(moved))
    for (const { settle } of done) settle()
    return outcomes.filter((outcome) => !done.includes(outcome)).map(({ pending }) => pending)
  }

  /** Commits the follower. If that fails, as on a full disk, the published commits remain: the follower reads them from git later. */
  #commitFollower(heads: Heads, moved: ReadonlySet<string>): void {
    try {
      this.#follower.commit(heads)
    } catch (error) {
      if (moved.size === 0) throw error
      this.#follower.rollback()
    }
  }

  async #prepare(todo: readonly Pending[], staging: Staging): Promise<Outcome[]> {
    const outcomes: Outcome[] = []
    const pause = pauses()
    for (const pending of todo) {
      await pause()
      const mark = staging.mark()
      this.#follower.savepoint()
      try {
        const value = await pending.work(staging)
        const touched = new Set(this.#store.refs.filter((ref) => staging.head(ref) !== mark.heads.get(ref)))
        outcomes.push({ pending, touched, settle: () => pending.resolve(value) })
      } catch (error) {
        staging.resetTo(mark)
        this.#follower.rollbackToSavepoint()
        outcomes.push({ pending, touched: new Set(), settle: () => pending.reject(error) })
      }
    }
    return outcomes
  }

  #movesOf(staging: Staging, heads: Heads): RefMove[] {
    return this.#store.refs.flatMap((ref) => {
      const [from, to] = [heads.get(ref), staging.head(ref)]
      return to === undefined || to === from ? [] : [{ ref, from, to }]
    })
  }

  #publish(staging: Staging, heads: Heads, moves: readonly RefMove[]): Promise<ReadonlySet<string>> {
    for (const [commit, changes] of staging.changes) this.#repository.noteChanges(commit, changes)
    return this.#store.publish({ objects: staging.objects, heads, moves })
  }
}
