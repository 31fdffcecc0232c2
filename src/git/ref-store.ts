import { join } from 'node:path'
import { stampFiles } from '../system/file-stamps.ts'
import type { GitObject, Oid } from './objects/object.ts'
import type { Repository } from './repository.ts'

export type Heads = ReadonlyMap<string, Oid | undefined>

/** Move of a ref. `from`: its required value; undefined: it must not exist. */
export type RefMove = { ref: string; from: Oid | undefined; to: Oid }

export type Publication = {
  /** Objects that the moves need and the repository does not have yet. */
  objects: ReadonlyMap<Oid, GitObject>
  /** Refs on which the moves are based. */
  heads: Heads
  /** Moves in the order of {@link RefStore.refs}. */
  moves: readonly RefMove[]
}

/** Store that decides where some refs of a repository point. All writers, in this process or elsewhere, use the same store. */
export interface RefStore {
  /** Names of the refs, in the order in which they are moved. */
  readonly refs: readonly string[]
  /**
   * Reads the current refs. The repository then has all objects reachable from them.
   * @throws {GitError} `bad-ref`
   */
  readHeads(): Promise<Heads>
  /**
   * Makes objects durable, then moves refs, in order. If a ref no longer has its `from`, neither it nor any later one is moved. A
   * store for several machines moves none if any ref has moved: the moves may be based on refs that they do not change.
   * @returns the refs that were moved
   * @throws {GitError} `lock-held`; `unknown-outcome` if the moves may have been made
   */
  publish(publication: Publication): Promise<ReadonlySet<string>>
  /** Runs an attempt to read the refs, prepare commits on top of them and publish these. Competing writers may take turns. */
  attempt<Result>(work: () => Promise<Result>): Promise<Result>
  /** Records the state of the refs, before they are read. @returns a function that returns true if they are certainly unchanged */
  stamp(): () => boolean | Promise<boolean>
}

export function folderRefs(repository: Repository, refs: readonly string[]): RefStore {
  /** Reads in reverse order of moving, so that the earlier refs are at least as new as the later ones need. */
  async function readHeads(): Promise<Heads> {
    const heads = new Map<string, Oid | undefined>()
    for (const ref of refs.toReversed()) heads.set(ref, await repository.readRef(ref))
    return heads
  }

  async function publish({ objects, moves }: Publication): Promise<ReadonlySet<string>> {
    const release = await repository.writeObjects(objects)
    const moved = new Set<string>()
    try {
      for (const { ref, from, to } of moves) {
        if (!(await repository.updateRef(ref, from, to))) break
        moved.add(ref)
      }
      return moved
    } finally {
      await release()
    }
  }

  function attempt<Result>(work: () => Promise<Result>): Promise<Result> {
    return work()
  }

  function stamp(): () => boolean {
    return stampRefs(repository.gitDir, refs)
  }

  return { refs, readHeads, publish, attempt, stamp }
}

/** Records the state of some refs, before they are read; see {@link stampFiles}. */
export function stampRefs(gitDir: string, refs: readonly string[]): () => boolean {
  return stampFiles(
    refs.map((ref) => join(gitDir, ref)),
    join(gitDir, 'packed-refs'),
  )
}
