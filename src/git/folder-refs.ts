import type { Oid } from './objects/object.ts'
import { stampRefs } from './refs/ref-stamps.ts'
import type { Heads, Publication, RefStore } from './refs/ref-store.ts'
import type { Repository } from './repository.ts'

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
