import { existsSync } from 'node:fs'
import { readdir, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { unlessMissing } from '../../git/refs/stale-lock.ts'
import { Repository } from '../../git/repository.ts'
import type { Database } from '../../state/database/database.ts'
import { takeTurn, unlessAtWork } from '../../state/database/engines/advisory-lock.ts'
import { Repositories } from '../../state/directory/repositories.ts'
import type { PackStore } from '../../state/packs/pack-store.ts'
import { S3Packs } from '../../state/packs/s3-packs.ts'
import type { S3Options } from '../../state/s3/s3-bucket.ts'
import { ClusterRefs } from './cluster-refs.ts'
import { consolidateShared } from './consolidate-shared.ts'
import { sweepPacks } from './sweep-packs.ts'

export class Cluster {
  readonly repositories: Repositories
  readonly packs: PackStore
  readonly #db: Database['db']

  constructor({ db, notifications }: Pick<Database, 'db' | 'notifications'>, objects: S3Options) {
    this.#db = db
    this.repositories = new Repositories(db, notifications)
    this.packs = new S3Packs({ ...objects, prefix: `${objects.prefix}packs/` })
  }

  /** @param repository this machine's copy of the repository of the knowledge base `id` */
  refsOf(id: string, repository: Repository, refs: readonly string[]): ClusterRefs {
    const { repositories, packs } = this
    return new ClusterRefs(repository, refs, {
      ...{ id, repositories, packs },
      takeTurn: () => takeTurn(this.#db, `write ${id}`),
    })
  }

  /** Does what the packs of a repository want from time to time, unless another node is at it. See {@link consolidateShared}. */
  async maintain(id: string, gitDir: string, now: Date, signal: AbortSignal): Promise<void> {
    await unlessAtWork(this.#db, `maintain ${id}`, () => consolidateShared(this, { kbId: id, gitDir, now }, signal))
  }

  /** See {@link sweepPacks}. */
  async sweep(now: Date): Promise<void> {
    await unlessAtWork(this.#db, 'sweep packs', async () => void (await sweepPacks(this, now)))
  }

  /** Makes an empty copy of a repository where this machine has none. @returns whether there is such a repository */
  async prepare(id: string, gitDir: string): Promise<boolean> {
    if ((await this.repositories.version(id)) === 0) return false
    if (!existsSync(join(gitDir, 'HEAD'))) (await Repository.init(gitDir)).close()
    await noteUse(gitDir)
    return true
  }
}

/** Notes that a copy is used: see {@link copiesIn}. */
export async function noteUse(gitDir: string): Promise<void> {
  const now = new Date()
  // A copy that was removed meanwhile is fetched again.
  await utimes(join(gitDir, 'HEAD'), now, now).catch(unlessMissing)
}

/** The copies in a folder. `usedAt` in milliseconds since 1970. */
export async function copiesIn(folder: string): Promise<{ id: string; gitDir: string; usedAt: number }[]> {
  const copies = []
  for (const name of await readdir(folder)) {
    const gitDir = join(folder, name)
    const head = await stat(join(gitDir, 'HEAD')).catch(() => undefined) // of one that is just being made
    if (head !== undefined) copies.push({ id: name.replace(/\.git$/, ''), gitDir, usedAt: head.mtimeMs })
  }
  return copies
}
