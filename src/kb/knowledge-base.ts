import { access } from 'node:fs/promises'
import { join } from 'node:path'
import type { KeyLimits } from '../contract/administration.ts'
import { GanglionError } from '../contract/errors.ts'
import { GroupCommit } from '../git/group-commit.ts'
import type { GitObject, Oid } from '../git/objects/object.ts'
import { clearAbandonedPacks } from '../git/objects/pack-files.ts'
import { folderRefs, type Heads, type RefStore } from '../git/ref-store.ts'
import { clearAbandonedLocks } from '../git/refs/refs.ts'
import type { Staging } from '../git/staging.ts'
import { clearAbandonedQuarantines } from '../git/transport/quarantine.ts'
import type { Decider } from '../rules/deciding.ts'
import { coalesce } from '../system/concurrency/coalesce.ts'
import { onceInTurn } from '../system/concurrency/shared-turn.ts'
import { observed } from '../system/work.ts'
import type { Cluster } from './cluster/cluster.ts'
import { isStorageFull } from './failure.ts'
import { FollowedKb, type KbFiles } from './follow/followed-kb.ts'
import type { KbIdentity } from './kb-identity.ts'
import { countPending } from './projection/candidate-index.ts'
import type { ChangedRows } from './projection/changed-rows.ts'
import { mainRef, queueRef, RepositoryMissing } from './refs/kb-refs.ts'

/** Text or bytes by path, or the id of a blob that the repository has; null removes the file. */
export type FileContents = ReadonlyMap<string, string | Buffer | { oid: Oid } | null>

/** Maximum number of pending candidates of one knowledge base. */
export const maxPending = 10_000

/** Result of work that was tried out and rolled back. `objects`: new objects of the commit `head` that it would have made. */
export type TriedOut<T> = {
  result: T
  main: Oid | undefined
  head: Oid | undefined
  objects: ReadonlyMap<Oid, GitObject>
  changes: ChangedRows[]
}

/** Facts about people and keys, which are not in git. */
export type KbPeople = {
  /** Returns what a key may propose; null: everything. */
  limitsOf: (keyId: string) => Promise<KeyLimits | null | undefined>
  /** Returns the person or key behind an actor. */
  whoIs: (actorId: string) => Promise<Decider>
}

type KbOptions = KbFiles & {
  /** Store of refs and packs that several machines share; absent: they are in the repository. */
  cluster?: Cluster | undefined
  /** Facts about people. Absent: every key may propose everything, and nobody has a name. */
  people?: KbPeople
  /** Throws if the knowledge base is not served any more. Each write calls it, since the knowledge base may have been opened before. */
  requireServed?: () => Promise<unknown>
  /** Called when the projection has followed moved refs; never fails. Closing waits for it. */
  onMoved?: () => Promise<void>
}

const nobody: KbPeople = {
  limitsOf: async () => null,
  whoIs: async (id) => ({ id, names: [], mayDecide: true }),
}

/**
 * An open knowledge base: its repository, the projection that follows the commits, and the one writer of this process. `kb/writing` makes
 * the commits of a write.
 */
export class KnowledgeBase extends FollowedKb {
  readonly people: KbPeople
  /**
   * State of writes. `lastWriteAt`: milliseconds since the epoch. `followingSince`: time since which the tables are behind commits of
   * others, by `performance.now`; undefined if they are not, as far as is known.
   */
  readonly activity: { lastWriteAt: number; followingSince?: number | undefined } = { lastWriteAt: 0 }
  readonly #options: KbOptions
  readonly #refs: RefStore
  readonly #writer: GroupCommit
  /** True only if the refs have certainly not moved since the projection followed them. */
  #areRefsUnchanged: () => boolean | Promise<boolean> = () => false
  /** True if the current transaction contains work that was rolled back. */
  #hasTriedOut = false
  #followedUp: Promise<void> | undefined

  constructor(identity: KbIdentity, options: KbOptions) {
    super(identity, options)
    const { repository, projection, follower } = this
    this.#options = options
    this.people = options.people ?? nobody
    this.#refs = options.cluster?.refsOf(identity.id, repository) ?? folderRefs(repository, [queueRef, mainRef])
    this.#writer = new GroupCommit(repository, this.#refs, {
      begin: () => {
        this.#hasTriedOut = false
        return projection.begin()
      },
      follow: (heads) => follower.follow(heads),
      savepoint: () => projection.savepoint(),
      rollbackToSavepoint: () => projection.rollbackToSavepoint(),
      commit: (heads) => this.#commit(heads),
      rollback: () => projection.rollback(),
    })
  }

  /**
   * Removes what a crash left behind, and follows main in empty tables, so that it can be read before the candidates are followed. Must run
   * before anything is written or followed.
   * @throws {RepositoryMissing}
   */
  async prepare(): Promise<void> {
    const { gitDir } = this.repository
    const isThere = await this.#options.cluster?.prepare(this.identity.id, gitDir)
    if (isThere === false) throw new RepositoryMissing(gitDir)
    for (const path of [gitDir, join(gitDir, 'objects/pack')]) {
      await access(path).catch((cause: unknown) => {
        throw new RepositoryMissing(path, { cause })
      })
    }
    await clearAbandonedLocks(gitDir, [mainRef, queueRef])
    await clearAbandonedPacks(gitDir)
    await clearAbandonedQuarantines(gitDir)
    if (!this.projection.hasAllIndexes()) {
      // Queries are only slower without these indexes; the next opening retries.
      await this.alone(() => this.projection.completeIndexes()).catch((error: unknown) => {
        if (!isStorageFull(error)) throw error
      })
    }
    if (this.heads().main !== undefined) return
    await this.alone(async () => this.follower.followMainFirst(await this.#refs.readHeads()))
  }

  /**
   * Runs work that may commit to `main` and the queue; see {@link GroupCommit.run}.
   * @throws {GanglionError} `not_found` if it was disabled or deleted since it was opened; `queue_full` if more than {@link maxPending}
   * candidates would be pending afterwards, whatever made them pending
   */
  write<T>(work: (staging: Staging) => Promise<T>): Promise<T> {
    this.activity.lastWriteAt = Date.now()
    const attributes = { 'ganglion.kb': this.identity.id }
    return observed({ kind: 'commit', name: 'commit', attributes }, () =>
      this.#writer.run(async (staging) => {
        await this.#options.requireServed?.()
        const queue = staging.head(queueRef)
        const result = await work(staging)
        const pending = staging.head(queueRef) === queue ? 0 : countPending(this.projection.write)
        // Even if the queue exceeds the limit, work that adds nothing to it is accepted.
        if (pending > maxPending && pending > countPending(this.projection.read)) throw new GanglionError('queue_full')
        return result
      }),
    )
  }

  /**
   * Runs work as {@link write} does, and rolls all of it back. Its commits need no approval.
   * @returns the result, and the commit that work would have made of `main`, with the one that it was based on
   */
  tryOut<T>(work: (staging: Staging) => Promise<T>): Promise<TriedOut<T>> {
    return this.write(async (staging) => {
      this.#hasTriedOut = true
      staging.isTrial = true
      const [mark, main] = [staging.mark(), staging.head(mainRef)]
      const changesNow = this.projection.noteChanges()
      let changes: ChangedRows[] = []
      try {
        const result = await work(staging).finally(async () => {
          changes = await changesNow()
        })
        const objects = new Map([...staging.objects].slice(mark.objects))
        return { result, main, head: staging.head(mainRef), objects, changes }
      } finally {
        staging.isTrial = false
        staging.resetTo(mark)
        this.projection.rollbackToSavepoint()
      }
    })
  }

  /**
   * Runs work that writes many large commits.
   * @param isFirst true if it adds more than there is, needs none of the scattered indexes, and nobody else reads meanwhile: they are
   * created at its end, or after a crash at the next opening
   */
  inBulk<T>(isFirst: boolean, work: () => Promise<T>): Promise<T> {
    return this.projection.inBulk(async () => {
      if (!isFirst) return work()
      await this.#writer.run(async () => this.projection.dropScatteredIndexes())
      try {
        return await work()
      } finally {
        await this.#writer.run(() => this.projection.completeIndexes())
      }
    })
  }

  /** Resolves once no process of this machine is writing. Later writes check anew whether the knowledge base is served. */
  async writesEnded(): Promise<void> {
    await this.#writer.follow()
  }

  /**
   * Brings the projection up to the present refs, whoever moved them. On a full disk it cannot follow: then its content is served until
   * there is space.
   */
  async sync(): Promise<void> {
    if (!(await this.#areRefsUnchanged())) await this.#followRefs()
  }

  /** Returns this knowledge base once its candidates are followed, too. */
  async whole(): Promise<KnowledgeBase> {
    await this.sync()
    return this
  }

  /** True if main is followed to its present head, whether the candidates are or not. */
  async isReadable(): Promise<boolean> {
    const { main, queue } = this.heads()
    if (main === undefined || queue !== undefined) return false
    return (await this.#refs.readHeads()).get(mainRef) === main
  }

  readonly #followRefs = coalesce(async () => {
    const { main, queue } = this.heads()
    const areUnchanged = this.#refs.stamp()
    const heads = await this.#refs.readHeads()
    if (heads.get(mainRef) === main && heads.get(queueRef) === queue) {
      this.#areRefsUnchanged = onceInTurn(areUnchanged)
      return
    }
    this.activity.followingSince ??= performance.now()
    const attributes = { 'ganglion.kb': this.identity.id }
    try {
      await observed({ kind: 'follow', name: 'follow', attributes }, () => this.#writer.follow())
      this.activity.followingSince = undefined
    } catch (error) {
      if (main === undefined || !isStorageFull(error)) throw error
    }
  })

  #commit(heads: Heads): void {
    const before = this.projection.heads(this.projection.read)
    const isMoved = heads.get(mainRef) !== before.main || heads.get(queueRef) !== before.queue
    if (this.#hasTriedOut && !isMoved) {
      // Committing would write work that was rolled back.
      this.projection.rollback()
      return
    }
    this.setHeads(heads)
    this.projection.commit()
    if (isMoved) this.#followedUp = this.#options.onMoved?.()
  }

  override async close(): Promise<void> {
    let followedUp: Promise<void> | undefined
    do {
      await this.#writer.settled()
      followedUp = this.#followedUp
      await followedUp
    } while (followedUp !== this.#followedUp) // A follow-up commit may need follow-ups itself.
    await super.close()
  }
}
