import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import { GitError } from './git-error.ts'
import type { Heads, RefMove, RefStore } from './refs/ref-store.ts'
import type { Repository } from './repository.ts'
import { Staging } from './staging.ts'

/**
 * What follows the commits: a projection that is brought up to the refs before a batch, changed by each piece of work,
 * and kept or thrown away together with the batch.
 */
export type Follower = {
  /** Begins a transaction, which keeps out whoever follows in the same projection: only then are the refs read. */
  begin(): Promise<void>
  /** Brings the projection up to these heads. */
  follow(heads: Heads): Promise<void>
  /** Sets a point inside the transaction that one failing piece of work goes back to. */
  savepoint(): void
  rollbackToSavepoint(): void
  commit(heads: Heads): void
  rollback(): void
}

type Pending = {
  /** Undefined: the follower is to be brought up to the refs, and nothing else. */
  work?: (staging: Staging) => Promise<unknown>
  resolve: (value: unknown) => void
  reject: (error: unknown) => void
}
type Outcome = { pending: Pending; settle: () => void; touched: ReadonlySet<string> }

const largestBatch = 256
const attempts = 100

/**
 * The one writer of a repository in this process. Work waits in a queue; all that waits is prepared together, written
 * in one pack, and made visible by one compare-and-swap for each ref, in the order of the store's refs (group commit, as
 * databases do). When another writer moved a ref first, the batch is prepared again on top of what it wrote.
 *
 * Work must be repeatable, and must find its own result when an earlier attempt of it got through in part.
 */
export class GroupCommit {
  readonly #repository: Repository
  readonly #store: RefStore
  readonly #follower: Follower
  #queue: Pending[] = []
  #pump: Promise<void> | undefined

  constructor(repository: Repository, store: RefStore, follower: Follower) {
    this.#repository = repository
    this.#store = store
    this.#follower = follower
  }

  /**
   * Runs work that may stage commits; resolves with its value once they are durable and visible.
   * @throws what the work throws (its commits are then dropped, not those of its neighbours), and {GitError} `busy`.
   */
  run<T>(work: (staging: Staging) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#enqueue({ work, resolve: (value) => resolve(value as T), reject })
    })
  }

  /** Brings the follower up to the refs as they are now. @throws {GitError} `busy` */
  follow(): Promise<void> {
    return new Promise((resolve, reject) => this.#enqueue({ resolve: () => resolve(), reject }))
  }

  /** Resolves when nothing is waiting or under way. */
  async settled(): Promise<void> {
    while (this.#pump !== undefined) await this.#pump
  }

  #enqueue(pending: Pending): void {
    this.#queue.push(pending)
    this.#pump ??= this.#drain()
  }

  async #drain(): Promise<void> {
    await nextTurn() // work of the same turn of the event loop shares the first batch
    while (this.#queue.length > 0) {
      const batch = this.#queue.splice(0, largestBatch)
      try {
        await this.#commitBatch(batch)
      } catch (error) {
        for (const pending of batch) pending.reject(error)
      }
    }
    this.#pump = undefined
  }

  async #commitBatch(batch: readonly Pending[]): Promise<void> {
    let todo = batch
    for (let attempt = 0; attempt < attempts; attempt++) {
      const tryOnce = () => this.#attempt(todo)
      todo = await (todo.some(({ work }) => work !== undefined) ? this.#store.attempt(tryOnce) : tryOnce())
      if (todo.length === 0) return
      await delay(Math.random() * Math.min(2 ** attempt, 50))
    }
    throw new GitError('busy', 'other writers kept moving the refs')
  }

  /** @returns what is to be done again, since another writer was first. */
  async #attempt(todo: readonly Pending[]): Promise<readonly Pending[]> {
    await this.#follower.begin()
    let moved: ReadonlySet<string>
    let outcomes: Outcome[]
    try {
      const heads = await this.#store.readHeads()
      await this.#follower.follow(heads)
      const staging = new Staging(this.#repository, heads)
      outcomes = await this.#prepare(todo, staging)
      const moves = this.#movesOf(staging, heads)
      moved = await this.#publish(staging, heads, moves)
      if (moved.size === moves.length) {
        this.#follower.commit(new Map(this.#store.refs.map((ref) => [ref, staging.head(ref)])))
        for (const { settle } of outcomes) settle()
        return []
      }
    } catch (error) {
      this.#follower.rollback()
      throw error
    }
    // What reached only refs that did move is done; the follower will read it from git.
    this.#follower.rollback()
    const done = outcomes.filter(({ touched }) => touched.size > 0 && touched.isSubsetOf(moved))
    for (const { settle } of done) settle()
    return outcomes.filter((outcome) => !done.includes(outcome)).map(({ pending }) => pending)
  }

  async #prepare(todo: readonly Pending[], staging: Staging): Promise<Outcome[]> {
    const outcomes: Outcome[] = []
    for (const pending of todo) {
      const mark = staging.mark()
      this.#follower.savepoint()
      try {
        const value = await pending.work?.(staging)
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
