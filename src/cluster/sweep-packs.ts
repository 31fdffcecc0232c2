import type { PackStore } from '../store/packs/pack-store.ts'
import type { Repositories } from '../store/repositories.ts'

const hour = 60 * 60_000
/** Milliseconds for which a pack is kept after another took its place: nodes may still be reading it. */
const keptReplaced = hour
/** Milliseconds for which a pack is kept that nothing names: a node that put one names it within an hour, or never. */
const keptOrphan = 24 * hour
/** Keys that are looked up in one statement. */
const keysAtOnce = 500

type Shared = { repositories: Pick<Repositories, 'replacedBefore' | 'forgetPack' | 'named'>; packs: PackStore }

/** Removes the packs from the store that nobody needs; answers how many. */
export async function sweepPacks(shared: Shared, now: Date): Promise<number> {
  const { repositories, packs } = shared
  const replaced = await repositories.replacedBefore(new Date(now.getTime() - keptReplaced))
  for (const key of replaced) {
    await packs.delete(key)
    await repositories.forgetPack(key)
  }
  let removed = replaced.length
  let old: string[] = []
  for await (const { key, storedAt } of packs.list()) {
    if (storedAt.getTime() > now.getTime() - keptOrphan) continue
    old.push(key)
    if (old.length < keysAtOnce) continue
    removed += await removeUnnamed(shared, old)
    old = []
  }
  return removed + (await removeUnnamed(shared, old))
}

async function removeUnnamed({ repositories, packs }: Shared, keys: readonly string[]): Promise<number> {
  const named = await repositories.named(keys)
  const orphans = keys.filter((key) => !named.has(key))
  for (const key of orphans) await packs.delete(key)
  return orphans.length
}
