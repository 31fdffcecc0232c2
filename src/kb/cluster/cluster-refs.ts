import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { GitError } from '../../git/git-error.ts'
import type { Oid } from '../../git/objects/object.ts'
import { discardPack, type StagedPack, stagedPack } from '../../git/objects/pack-files.ts'
import { moveDerivedRefs } from '../../git/refs/derived-refs.ts'
import type { Heads, Publication, RefStore } from '../../git/refs/ref-store.ts'
import type { Repository } from '../../git/repository.ts'
import { ConnectionLost, DatabaseUnreachable } from '../../state/database/database-errors.ts'
import type { PackEntry, Repositories, RepositoryState } from '../../state/directory/repositories.ts'
import { startClock } from '../../state/directory/start-clock.ts'
import { PackNotFound, type PackStore } from '../../state/packs/pack-store.ts'
import { coalesce } from '../../system/concurrency/coalesce.ts'
import { KeyedLock } from '../../system/concurrency/keyed-lock.ts'
import { stageNewPack } from './new-pack.ts'
import { PackCache } from './pack-cache.ts'
import { putPack } from './put-pack.ts'
import { type TakeTurn, WriteTurns } from './write-turns.ts'

type Shared = {
  /** Of the knowledge base. */
  id: string
  repositories: Pick<Repositories, 'version' | 'state' | 'publish' | 'isNamed'>
  packs: PackStore
  takeTurn: TakeTurn
}

/** Milliseconds after which a pack that was put is no longer named: the sweep of orphans may already be at it. */
const nameWithin = 60 * 60_000
/** Milliseconds for which the outcome of a commit whose answer was lost is looked for. */
const defaultPatience = 30_000
const lookAgainAfter = 200
/** How often the packs of a repository are fetched that others pack anew meanwhile. */
const fetchAttempts = 5

/**
 * Refs that several machines share: the database decides where they point, a store holds the packs, and the repository on this
 * machine is a copy of both that is brought up to date before it is read. Other processes may do so as well.
 */
export class ClusterRefs implements RefStore {
  readonly refs: readonly string[]
  readonly #repository: Repository
  readonly #shared: Shared
  readonly #cache: PackCache
  readonly #patience: number
  readonly #lock = new KeyedLock()
  /** The version that the repository here is a copy of. */
  #copied: { version: number; heads: Heads } | undefined
  #latest = 0
  readonly #turns: WriteTurns

  /** @param patience milliseconds for which the outcome of a commit whose answer was lost is looked for */
  constructor(repository: Repository, refs: readonly string[], shared: Shared, patience = defaultPatience) {
    this.#repository = repository
    this.refs = refs
    this.#shared = shared
    this.#cache = new PackCache(repository.gitDir, shared.packs)
    this.#patience = patience
    this.#turns = new WriteTurns(shared.takeTurn)
  }

  /** @throws {GitError} `corrupt-object` {@link DatabaseUnreachable}; what the store of packs throws */
  readHeads(): Promise<Heads> {
    return this.#alone(async () => {
      const { id, repositories } = this.#shared
      if (this.#copied !== undefined && (await repositories.version(id)) === this.#copied.version) {
        return this.#copied.heads
      }
      return this.#copy()
    })
  }

  /**
   * All moves are made, or none.
   * @throws {GitError} `unknown-outcome` {@link DatabaseUnreachable}; what the store of packs throws
   */
  async publish(publication: Publication): Promise<ReadonlySet<string>> {
    const { moves } = publication
    if (moves.length === 0) return new Set()
    const staged = stagedPack(this.#repository.gitDir, randomBytes(6).toString('hex'))
    try {
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
    } finally {
      await discardPack(staged)
    }
  }

  /** A writer that took no turn would win against those that do, and never notice them. */
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

  /** @returns the new version, `'unseen'` where it is not known; undefined where somebody else was first */
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

  /** What became of a commit whose answer was lost. @throws {GitError} `unknown-outcome` */
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

  /** Brings the repository here to what was just published. It is done: what fails here is made up for by the next read. */
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

  /** Brings the repository here to the rows. */
  async #copy(): Promise<Heads> {
    const { id, repositories } = this.#shared
    for (let attempt = 1; ; attempt++) {
      const state = await repositories.state(id)
      try {
        await this.#cache.fetch(state.packs)
        return await this.#copyRefs(state)
      } catch (error) {
        // Packed anew by another machine, and swept: the rows name the new one.
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
