import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { GitError } from '../../git/git-error.ts'
import type { Oid } from '../../git/objects/object.ts'
import { type StagedPack, stagedPack } from '../../git/objects/pack-files.ts'
import type { Heads, Publication, RefStore } from '../../git/ref-store.ts'
import { moveDerivedRefs } from '../../git/refs/derived-refs.ts'
import type { Repository } from '../../git/repository.ts'
import { ConnectionLost, DatabaseUnreachable } from '../../state/database/database-errors.ts'
import type { PackEntry, Repositories, RepositoryState } from '../../state/directory/repositories.ts'
import { startClock } from '../../state/directory/start-clock.ts'
import { PackNotFound, type PackStore } from '../../state/s3/s3-packs.ts'
import { coalesce } from '../../system/concurrency/coalesce.ts'
import { KeyedLock } from '../../system/concurrency/keyed-lock.ts'
import { PackCache, putPack, stageNewPack } from './pack-cache.ts'

type Shared = {
  /** Id of the knowledge base. */
  id: string
  repositories: Pick<Repositories, 'version' | 'state' | 'publish' | 'isNamed'>
  packs: PackStore
  takeTurn: TakeTurn
}

/** Milliseconds after which a stored pack is no longer named in a row: the sweep of orphans may remove it. */
const nameWithin = 60 * 60_000
/** Milliseconds for which the outcome of a commit without a response is awaited. */
const defaultPatience = 30_000
const lookAgainAfter = 200
/** Maximum attempts to fetch the packs of a repository while others consolidate them. */
const fetchAttempts = 5

/**
 * Refs that several machines share: the database decides where they point, a store contains the packs, and the repository on this machine
 * is a copy of both that is updated before it is read. Safe for other processes on this machine.
 */
export class ClusterRefs implements RefStore {
  readonly refs: readonly string[]
  readonly #repository: Repository
  readonly #shared: Shared
  readonly #cache: PackCache
  readonly #patience: number
  readonly #lock = new KeyedLock()
  /** Version and heads of the local copy. */
  #copied: { version: number; heads: Heads } | undefined
  #latest = 0
  readonly #turns: WriteTurns

  /** Creates the store. @param patience milliseconds for which the outcome of a commit without a response is awaited */
  constructor(repository: Repository, refs: readonly string[], shared: Shared, patience = defaultPatience) {
    this.#repository = repository
    this.refs = refs
    this.#shared = shared
    this.#cache = new PackCache(repository.gitDir, shared.packs)
    this.#patience = patience
    this.#turns = new WriteTurns(shared.takeTurn)
  }

  /** Returns the current refs. @throws {GitError} `corrupt-object` {@link DatabaseUnreachable}; errors of the pack store */
  readHeads(): Promise<Heads> {
    return this.#alone(async () => {
      const { id, repositories } = this.#shared
      if (this.#copied !== undefined && (await repositories.version(id)) === this.#copied.version) {
        return this.#copied.heads
      }
      return this.#copy()
    })
  }

  /** Makes all moves or none. @throws {GitError} `unknown-outcome` {@link DatabaseUnreachable}; errors of the pack store */
  async publish(publication: Publication): Promise<ReadonlySet<string>> {
    const { moves } = publication
    if (moves.length === 0) return new Set()
    await using staged = stagedPack(this.#repository.gitDir, randomBytes(6).toString('hex'))
    const name = await stageNewPack(staged, this.#repository, publication, this.#cache)
    const sincePut = startClock()
    const pack = await putPack(this.#shared.packs, { kbId: this.#shared.id, name, path: staged.pack })
    const isDone = await this.#alone(async () => {
      const version = await this.#name({ ...pack, sincePut }, publication)
      if (version !== undefined) await this.#take(version, { name, staged, moves })
      return version !== undefined
    })
    if (!isDone) return new Set()
    this.#repository.rememberObjects(publication.objects)
    return new Set(moves.map(({ ref }) => ref))
  }

  /** Runs work in a write turn. A writer without a turn would always win against those that take turns. */
  attempt<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#turns.run(work)
  }

  stamp(): () => Promise<boolean> {
    const version = this.#copied?.version
    return async () => {
      await this.#askVersion()
      return version === this.#latest
    }
  }

  readonly #askVersion = coalesce(async () => {
    const { id, repositories } = this.#shared
    this.#latest = await repositories.version(id)
  })

  /** Commits the row that names a pack. @returns the new version; `'unseen'` if unknown; undefined if another writer was first */
  async #name({ sincePut, ...pack }: PutPack, { heads, moves }: Publication): Promise<number | 'unseen' | undefined> {
    const { id, repositories } = this.#shared
    const check = () => {
      if (sincePut() > nameWithin) throw new GitError('busy', 'a pack was put too long ago to be named')
    }
    try {
      return await repositories.publish(id, { pack, heads, moves, check })
    } catch (error) {
      if (!(error instanceof ConnectionLost)) throw error
      return (await this.#isNamed(pack.key)) ? 'unseen' : undefined
    }
  }

  /** Returns the outcome of a commit without a response. @throws {GitError} `unknown-outcome` */
  async #isNamed(key: string): Promise<boolean> {
    const { id, repositories } = this.#shared
    for (const sinceBegun = startClock(); ; ) {
      try {
        return await repositories.isNamed(id, key)
      } catch (cause) {
        if (!(cause instanceof DatabaseUnreachable)) throw cause
        if (sinceBegun() > this.#patience) {
          throw new GitError('unknown-outcome', 'the database did not say whether it made a commit', { cause })
        }
        await delay(lookAgainAfter)
      }
    }
  }

  /** Updates the local copy to the state just published. The publication is complete, so the next read makes up for a failure here. */
  async #take(
    version: number | 'unseen',
    { name, staged, moves }: { name: string; staged: StagedPack; moves: Publication['moves'] },
  ): Promise<void> {
    const before = this.#copied
    this.#copied = undefined
    if (version === 'unseen') return
    try {
      await this.#cache.publish(name, staged)
      if (before?.version !== version - 1) return
      const heads = new Map(before.heads)
      for (const { ref, to } of moves) heads.set(ref, to)
      await this.#setRefs(heads)
      this.#copied = { version, heads }
    } catch {
      // The next read fetches what is missing.
    }
  }

  /** Updates the local copy to the rows of the database. */
  async #copy(): Promise<Heads> {
    const { id, repositories } = this.#shared
    for (let attempt = 1; ; attempt++) {
      const state = await repositories.state(id)
      try {
        await this.#cache.fetch(state.packs)
        return await this.#copyRefs(state)
      } catch (error) {
        // Another machine consolidated the pack, and it was swept: the rows name the new one.
        if (!(error instanceof PackNotFound) || attempt === fetchAttempts) throw error
      }
    }
  }

  async #copyRefs({ version, refs, packs }: RepositoryState): Promise<Heads> {
    const heads = new Map<string, Oid | undefined>(this.refs.map((ref) => [ref, refs.get(ref)]))
    await this.#setRefs(heads)
    await this.#cache.dropAllBut(new Set(packs.map(({ name }) => name)))
    this.#copied = { version, heads }
    return heads
  }

  async #setRefs(heads: Heads): Promise<void> {
    const { gitDir } = this.#repository
    for (const [ref, to] of heads) {
      for (;;) {
        const here = await this.#repository.readRef(ref)
        if (here === to) break
        if (to === undefined) await moveDerivedRefs(gitDir, 'refs', new Map([[ref, undefined]]))
        else if (await this.#repository.updateRef(ref, here, to)) break
      }
    }
  }

  #alone<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#lock.run('', work)
  }
}

type PutPack = PackEntry & { sincePut: () => number }

/** Waits for a turn. The returned function releases it. */
export type TakeTurn = () => Promise<() => Promise<void>>

/** Maximum milliseconds for which a turn is kept, and for which it is kept without anything to write. */
const longest = 250
const longestIdle = 15

/**
 * Turns of this process among the processes that write the same refs. A turn is kept for several batches, because the next process starts
 * by fetching what this one has written. Turns save work; correctness does not depend on them.
 */
export class WriteTurns {
  readonly #take: TakeTurn
  #held: { giveBack: () => Promise<void>; until: number } | undefined
  #idle: NodeJS.Timeout | undefined

  constructor(take: TakeTurn) {
    this.#take = take
  }

  /** Runs work in a turn, one at a time. */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    clearTimeout(this.#idle)
    this.#held ??= { giveBack: await this.#take(), until: performance.now() + longest }
    try {
      return await work()
    } finally {
      if (performance.now() > this.#held.until) await this.#giveBack()
      else this.#idle = setTimeout(() => this.#giveBack(), longestIdle)
    }
  }

  async #giveBack(): Promise<void> {
    const held = this.#held
    this.#held = undefined
    await held?.giveBack()
  }
}
