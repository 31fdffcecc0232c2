import { randomBytes } from 'node:crypto'
import { mergePacks, smallPacks } from '../../git/objects/consolidate-packs.ts'
import { discardPack, packPath, stagedPack } from '../../git/objects/pack-files.ts'
import type { Repositories } from '../../state/directory/repositories.ts'
import type { PackStore } from '../../state/s3/s3-packs.ts'
import { sweepUnnamed } from '../../state/s3/sweep-unnamed.ts'
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
