import { type Stats, statSync } from 'node:fs'
import { join } from 'node:path'
import type { GitObject, Oid } from './objects/object.ts'
import type { Repository } from './repository.ts'

export type Heads = ReadonlyMap<string, Oid | undefined>

/** `from` is what the ref must hold; undefined: it must not exist. */
export type RefMove = { ref: string; from: Oid | undefined; to: Oid }

export type Publication = {
  /** Objects that the moves lead to and the repository does not hold yet. */
  objects: ReadonlyMap<Oid, GitObject>
  /** The refs on which the moves were prepared. */
  heads: Heads
  /** Moves in the order of {@link RefStore.refs}. */
  moves: readonly RefMove[]
}

/** Decides where some refs of a repository point. All writers, in this process or elsewhere, use the same store. */
export interface RefStore {
  /** Their names, in the order in which they are moved. */
  readonly refs: readonly string[]
  /**
   * Reads the refs as they are now. The repository then holds all that they lead to.
   * @throws {GitError} `bad-ref`
   */
  readHeads(): Promise<Heads>
  /**
   * Makes objects durable, then moves refs, in order. Where a ref no longer holds its `from`, neither it nor any after it is moved.
   * A store for several machines moves none where any ref has moved: what was prepared may rest on those that it leaves as they are.
   * @returns the refs that were moved
   * @throws {GitError} `lock-held`; `unknown-outcome` where the moves may be made, or not
   */
  publish(publication: Publication): Promise<ReadonlySet<string>>
  /**
   * Runs an attempt to read the refs, prepare commits on top of them and publish those. Writers that keep getting in each other's way
   * may take turns.
   */
  attempt<Result>(work: () => Promise<Result>): Promise<Result>
  /** Notes the state of the refs, before they are read. @returns whether they are unchanged for certain */
  stamp(): () => boolean | Promise<boolean>
}

/** Milliseconds: the coarsest timestamps that a file system has, with a margin. */
const timestampGranularity = 2_500

/** Refs as files of the repository, under git's own lock protocol: native git and other processes may move them too. */
export class FolderRefs implements RefStore {
  readonly refs: readonly string[]
  readonly #repository: Repository

  constructor(repository: Repository, refs: readonly string[]) {
    this.#repository = repository
    this.refs = refs
  }

  /** Reads in the opposite order of moving: what a later ref leads to is then in the earlier ones. */
  async readHeads(): Promise<Heads> {
    const heads = new Map<string, Oid | undefined>()
    for (const ref of this.refs.toReversed()) heads.set(ref, await this.#repository.readRef(ref))
    return heads
  }

  async publish({ objects, moves }: Publication): Promise<ReadonlySet<string>> {
    const release = await this.#repository.writeObjects(objects)
    const moved = new Set<string>()
    try {
      for (const { ref, from, to } of moves) {
        if (!(await this.#repository.updateRef(ref, from, to))) break
        moved.add(ref)
      }
      return moved
    } finally {
      await release()
    }
  }

  attempt<Result>(work: () => Promise<Result>): Promise<Result> {
    return work()
  }

  stamp(): () => boolean {
    return stampRefs(this.#repository.gitDir, this.refs)
  }
}

/**
 * Notes what the files of some refs look like to `stat`, which takes a fifth of the time of reading them. To be called before the
 * refs are read.
 * @returns whether the refs are surely as they were. A file that was written shortly before it was noted can be written again and
 *   look the same, so it never counts as unchanged, as in git's index (Documentation/technical/racy-git.adoc).
 */
export function stampRefs(gitDir: string, refs: readonly string[]): () => boolean {
  const paths = refs.map((ref) => join(gitDir, ref))
  const stamps = paths.map(stampOf)
  if (stamps.includes(undefined)) {
    const packed = join(gitDir, 'packed-refs')
    paths.push(packed)
    stamps.push(stampOf(packed))
  }
  const newest = Math.max(...stamps.map((stamp) => stamp?.mtimeMs ?? 0))
  if (newest > Date.now() - timestampGranularity) return () => false
  return () => paths.every((path, index) => isSame(stampOf(path), stamps[index]))
}

function stampOf(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false })
}

function isSame(a: Stats | undefined, b: Stats | undefined): boolean {
  if (a === undefined || b === undefined) return a === b
  return a.ino === b.ino && a.size === b.size && a.mtimeMs === b.mtimeMs && a.ctimeMs === b.ctimeMs
}
