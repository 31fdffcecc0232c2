import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { mergePacks, packPath, smallPacks, stagedPack } from '../../git/objects/pack-files.ts'
import { readRef, unlessMissing } from '../../git/refs/refs.ts'
import { Repository } from '../../git/repository.ts'
import type { Database } from '../../state/database/database.ts'
import { advisoryTurn, runUnlessRunning } from '../../state/database/engines/advisory-lock.ts'
import type { DataDirectory } from '../../state/directory/data-directory.ts'
import { Repositories } from '../../state/directory/repositories.ts'
import type { S3Options } from '../../state/s3/s3-bucket.ts'
import { type PackStore, S3Packs } from '../../state/s3/s3-packs.ts'
import { sweepUnnamed } from '../../state/s3/sweep-unnamed.ts'
import { erasedRef, mainRef, sharedRefs } from '../refs/kb-refs.ts'
import { ClusterRefs } from './cluster-refs.ts'
import { PackCache, type PutRepository, putPack } from './pack-cache.ts'

export class Cluster {
  readonly repositories: Repositories
  readonly packs: PackStore
  readonly #db: Database['db']

  constructor({ db, notifications }: Pick<Database, 'db' | 'notifications'>, objects: S3Options) {
    this.#db = db
    this.repositories = new Repositories(db, notifications)
    this.packs = new S3Packs({ ...objects, prefix: `${objects.prefix}packs/` })
  }

  /** Returns the shared refs of a knowledge base. @param repository this machine's copy */
  refsOf(id: string, repository: Repository): ClusterRefs {
    const { repositories, packs } = this
    return new ClusterRefs(repository, sharedRefs, {
      ...{ id, repositories, packs },
      takeTurn: () => advisoryTurn(this.#db, `write ${id}`),
    })
  }

  /** Runs the regular maintenance of a repository's packs, unless another node does. See {@link consolidateShared}. */
  async maintain(id: string, gitDir: string, now: Date, signal: AbortSignal): Promise<void> {
    await runUnlessRunning(this.#db, `maintain ${id}`, () => consolidateShared(this, { kbId: id, gitDir, now }, signal))
  }

  /** See {@link sweepPacks}. */
  async sweep(now: Date): Promise<void> {
    await runUnlessRunning(this.#db, 'sweep packs', async () => void (await sweepPacks(this, now)))
  }

  /** Replaces the whole history of a repository, of which nothing stays in the store. The caller must be the only writer. */
  async replace(repository: PutRepository): Promise<void> {
    await this.repositories.replace(repository)
    const kept = new Set(repository.packs.map(({ key }) => key))
    for await (const { key } of this.packs.list()) {
      if (key.startsWith(`${repository.kbId}/`) && !kept.has(key)) await this.packs.delete(key)
    }
  }

  /** Removes this machine's copies from before an erasure, and everything derived from them. */
  async dropErasedCopies(directory: DataDirectory): Promise<void> {
    for (const [id, head] of await this.repositories.refEverywhere(erasedRef)) {
      const gitDir = directory.repository(id)
      // A copy without main is being created, perhaps by another process.
      const isStale = !existsSync(gitDir) || (await readRef(gitDir, mainRef)) !== undefined
      if (!isStale || (await readRef(gitDir, erasedRef)) === head) continue
      for (const path of [...directory.derived(id), gitDir]) await rm(path, { recursive: true, force: true })
    }
  }

  /** Creates an empty copy of a repository if this machine has none. @returns true if there is such a repository */
  async prepare(id: string, gitDir: string): Promise<boolean> {
    if ((await this.repositories.version(id)) === 0) return false
    if (!existsSync(join(gitDir, 'HEAD'))) (await Repository.init(gitDir)).close()
    await noteUse(gitDir)
    return true
  }
}

/** Records that a copy is in use: see {@link copiesIn}. */
export async function noteUse(gitDir: string): Promise<void> {
  const now = new Date()
  // A copy that was removed meanwhile is fetched again.
  await utimes(join(gitDir, 'HEAD'), now, now).catch(unlessMissing)
}

/** Returns the copies in a folder. `usedAt`: milliseconds since 1970. */
export async function copiesIn(folder: string): Promise<{ id: string; gitDir: string; usedAt: number }[]> {
  const copies = []
  for (const name of await readdir(folder)) {
    const gitDir = join(folder, name)
    const head = await stat(join(gitDir, 'HEAD')).catch(() => undefined) // Absent while the copy is being created.
    if (head !== undefined) copies.push({ id: name.replace(/\.git$/, ''), gitDir, usedAt: head.mtimeMs })
  }
  return copies
}

type Shared = { repositories: Repositories; packs: PackStore }

/** Number of packs above which consolidation is worthwhile. */
const wanted = 24

/**
 * Merges small packs of the store into one that replaces them, and removes from the local copy those that were replaced an hour ago. Does
 * nothing if another node merges the same packs first.
 * @throws the signal's reason; errors of the store
 */
export async function consolidateShared(
  { repositories, packs }: Shared,
  { kbId, gitDir, now }: { kbId: string; gitDir: string; now: Date },
  signal: AbortSignal,
): Promise<void> {
  const { packs: named } = await repositories.state(kbId)
  const cache = new PackCache(gitDir, packs)
  await cache.dropAllBut(new Set(named.map(({ name }) => name)))
  if (named.length <= wanted) return
  await cache.fetch(named)
  const small = new Map(named.map((pack) => [packPath(gitDir, pack.name), pack]))
  const chosen = smallPacks([...small.keys()])
  if (chosen.length < 2) return
  await using staged = stagedPack(gitDir, randomBytes(6).toString('hex'))
  const name = await mergePacks(chosen, staged, signal)
  const pack = await putPack(packs, { kbId, name, path: staged.pack })
  const keys = chosen.flatMap(({ path }) => small.get(path)?.key ?? [])
  if (await repositories.replacePacks(kbId, pack, keys, now)) await cache.publish(name, staged)
}

const hour = 60 * 60_000
/** Milliseconds for which a replaced pack is kept: nodes may still be reading it. */
const keptReplaced = hour
/** Milliseconds for which a pack without a row is kept: the node that uploaded it names it within an hour, or never. */
const keptOrphan = 24 * hour

/** Removes unneeded packs from the store; returns their number. */
export async function sweepPacks({ repositories, packs }: Shared, now: Date): Promise<number> {
  const replaced = await repositories.replacedBefore(new Date(now.getTime() - keptReplaced))
  for (const key of replaced) {
    await packs.delete(key)
    await repositories.forgetPack(key)
  }
  const orphaned = new Date(now.getTime() - keptOrphan)
  return replaced.length + (await sweepUnnamed(packs, orphaned, (keys) => repositories.named(keys)))
}
