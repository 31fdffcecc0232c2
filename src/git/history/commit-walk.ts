import { join } from 'node:path'
import { commonDir, readLines } from '../common-dir.ts'
import { GitError } from '../git-error.ts'
import { type Oid, parentsOfCommit, secondsOfCommit, treeOfCommit } from '../objects/object.ts'
import type { ReadableObjects } from '../repository.ts'

/** A commit as walks through history see it; `seconds`: when it was committed, since 1970; `size` in bytes. */
export type WalkedCommit = { oid: Oid; tree: Oid; parents: readonly Oid[]; seconds: number; size: number }

/** Reads the commits of a repository for walks through its history, each once. Where a clone is shallow, history begins there. */
export class CommitWalk {
  readonly #repository: ReadableObjects
  readonly #commits = new Map<Oid, WalkedCommit>()
  readonly #shallow: ReadonlySet<Oid>

  constructor(repository: ReadableObjects) {
    this.#repository = repository
    this.#shallow = new Set(readLines(join(commonDir(repository.gitDir), 'shallow')))
  }

  async commit(oid: Oid): Promise<WalkedCommit> {
    const known = this.#commits.get(oid)
    if (known !== undefined) return known
    const object = await this.#read(oid)
    const commit = {
      oid,
      tree: treeOfCommit(object),
      parents: this.#shallow.has(oid) ? [] : parentsOfCommit(object),
      seconds: secondsOfCommit(object),
      size: object.length,
    }
    this.#commits.set(oid, commit)
    return commit
  }

  async #read(oid: Oid): Promise<Buffer> {
    try {
      const { type, data } = await this.#repository.read(oid)
      if (type === 'commit') return data
    } catch (cause) {
      throw new GitError('git-failed', `the commit ${oid} of a history cannot be read`, { cause })
    }
    throw new GitError('git-failed', `${oid}, of a history, is no commit`)
  }
}
