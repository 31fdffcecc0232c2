import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import { GitError } from './git-error.ts'
import type { Oid } from './objects/object.ts'
import type { Repository } from './repository.ts'
import { Staging } from './staging.ts'

export type Heads = ReadonlyMap<string, Oid | undefined>

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
  work: (staging: Staging) => Promise<unknown>
  resolve: (value: unknown) => void
  reject: (error: unknown) => void
}
type Outcome = { pending: Pending; settle: () => void; touched: ReadonlySet<string> }

const largestBatch = 256
const attempts = 100

/**
 * The one writer of a repository in this process. Work waits in a queue; all that waits is prepared together, written
 * in one pack, and made visible by one compare-and-swap for each ref, in the order of `refs` (group commit, as
 * databases do). When another process moved a ref first, the batch is prepared again on top of what it wrote.
 *
 * Work must be repeatable, and must find its own result when an earlier attempt of it got through in part.
 */
export class GroupCommit {
  readonly #repository: Repository
  readonly #refs: readonly string[]
  readonly #follower: Follower
  #queue: Pending[] = []
  #pump: Promise<void> | undefined

  constructor(repository: Repository, refs: readonly string[], follower: Follower) {
    this.#repository = repository
    this.#refs = refs
    this.#follower = follower
  }

  /**
   * Runs work that may stage commits; resolves with its value once they are durable and visible.
   * @throws what the work throws (its commits are then dropped, not those of its neighbours), and {GitError} `busy`.
   */
  run<T>(work: (staging: Staging) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ work, resolve: (value) => resolve(value as T), reject })
      this.#pump ??= this.#drain()
    })
  }

  /** Resolves when nothing is waiting or under way. */
  async settled(): Promise<void> {
    while (this.#pump !== undefined) await this.#pump
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
      await this.#follower.begin()
      let moved: ReadonlySet<string>
      let outcomes: Outcome[]
      try {
        const heads = await this.readHeads()
        await this.#follower.follow(heads)
        const staging = new Staging(this.#repository, heads)
        outcomes = await this.#prepare(todo, staging)
        moved = await this.#publish(staging, heads)
        if (this.#isComplete(staging, heads, moved)) {
          this.#follower.commit(new Map(this.#refs.map((ref) => [ref, staging.head(ref)])))
          for (const { settle } of outcomes) settle()
          return
        }
      } catch (error) {
        this.#follower.rollback()
        throw error
      }
      // Another writer was first. What reached only refs that did move is done; the follower will read it from git.
      this.#follower.rollback()
      const done = outcomes.filter(({ touched }) => touched.size > 0 && touched.isSubsetOf(moved))
      for (const { settle } of done) settle()
      todo = outcomes.filter((outcome) => !done.includes(outcome)).map(({ pending }) => pending)
      await delay(Math.random() * Math.min(2 ** attempt, 50))
    }
    throw new GitError('busy', 'other writers kept moving the refs')
  }

  /** The refs as they are now, in the opposite order of publishing: what a later ref shows is in the earlier ones. */
  async readHeads(): Promise<Heads> {
    const heads = new Map<string, Oid | undefined>()
    for (const ref of this.#refs.toReversed()) heads.set(ref, await this.#repository.readRef(ref))
    return heads
  }

  async #prepare(todo: readonly Pending[], staging: Staging): Promise<Outcome[]> {
    const outcomes: Outcome[] = []
    for (const pending of todo) {
      const mark = staging.mark()
      this.#follower.savepoint()
      try {
        const value = await pending.work(staging)
        const touched = new Set(this.#refs.filter((ref) => staging.head(ref) !== mark.heads.get(ref)))
        outcomes.push({ pending, touched, settle: () => pending.resolve(value) })
      } catch (error) {
        staging.resetTo(mark)
        this.#follower.rollbackToSavepoint()
        outcomes.push({ pending, touched: new Set(), settle: () => pending.reject(error) })
      }
    }
    return outcomes
  }

  /** Writes the objects, then moves the refs in order until one turns out to have been moved by somebody else. */
  async #publish(staging: Staging, heads: Heads): Promise<ReadonlySet<string>> {
    const release = await this.#repository.writeObjects(staging.objects)
    for (const [commit, changes] of staging.changes) this.#repository.noteChanges(commit, changes)
    const moved = new Set<string>()
    try {
      for (const ref of this.#refs) {
        const to = staging.head(ref)
        if (to === undefined || to === heads.get(ref)) continue
        if (!(await this.#repository.updateRef(ref, heads.get(ref), to))) return moved
        moved.add(ref)
      }
      return moved
    } finally {
      await release()
    }
  }

  #isComplete(staging: Staging, heads: Heads, moved: ReadonlySet<string>): boolean {
    return this.#refs.every((ref) => staging.head(ref) === heads.get(ref) || moved.has(ref))
  }
}
