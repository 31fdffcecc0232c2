import { randomBytes } from 'node:crypto'
import { mergePacks, smallPacks } from '../../git/objects/consolidate-packs.ts'
import { discardPack, packPath, stagedPack } from '../../git/objects/pack-files.ts'
import type { Repositories } from '../../state/directory/repositories.ts'
import type { PackStore } from '../../state/packs/pack-store.ts'
import { PackCache } from './pack-cache.ts'
import { putPack } from './put-repository.ts'

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
  const staged = stagedPack(gitDir, randomBytes(6).toString('hex'))
  try {
    const name = await mergePacks(chosen, staged, signal)
    const pack = await putPack(packs, { kbId, name, path: staged.pack })
    const keys = chosen.flatMap(({ path }) => small.get(path)?.key ?? [])
    if (await repositories.replacePacks(kbId, pack, keys, now)) await cache.publish(name, staged)
  } finally {
    await discardPack(staged)
  }
}
