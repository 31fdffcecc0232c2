import { GitError } from '../../git/git-error.ts'
import { Repository } from '../../git/repository.ts'
import type { PackEntry, Repositories } from '../../state/directory/repositories.ts'
import { PackNotFound, type PackStore } from '../../state/s3/s3-packs.ts'
import { PackCache } from './pack-cache.ts'

type Shared = { repositories: Pick<Repositories, 'state' | 'version'>; packs: PackStore }

/** Maximum attempts to read the rows, if other nodes consolidate the named packs meanwhile. */
const attempts = 3

/**
 * Creates a repository from the rows alone, as a node without a copy would, but leaves out packs that are missing or damaged.
 * @param gitDir must not exist
 * @returns the problems of the packs; undefined if there is no such repository
 * @throws errors of the database and the store
 */
export async function fetchWhole(
  { repositories, packs }: Shared,
  { kbId, gitDir }: { kbId: string; gitDir: string },
): Promise<string[] | undefined> {
  using repository = await Repository.init(gitDir)
  const cache = new PackCache(gitDir, packs)
  for (let attempt = 1; ; attempt++) {
    const state = await repositories.state(kbId)
    if (state.version === 0) return undefined
    const problems: string[] = []
    for (const pack of state.packs) problems.push(...(await fetchOne(cache, pack)))
    if (problems.length > 0 && attempt < attempts && (await repositories.version(kbId)) !== state.version) continue
    for (const [ref, oid] of state.refs) await repository.updateRef(ref, undefined, oid)
    return problems
  }
}

async function fetchOne(cache: PackCache, pack: PackEntry): Promise<string[]> {
  try {
    await cache.fetch([pack])
    return []
  } catch (error) {
    if (error instanceof PackNotFound) return [`The pack ${pack.key} is gone from the bucket.`]
    if (error instanceof GitError) return [`The pack ${pack.key} is damaged: ${error.message}`]
    throw error
  }
}
