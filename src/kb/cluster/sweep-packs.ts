import type { Repositories } from '../../state/directory/repositories.ts'
import type { PackStore } from '../../state/packs/pack-store.ts'
import { sweepUnnamed } from '../../state/s3/sweep-unnamed.ts'

const hour = 60 * 60_000
/** Milliseconds for which a replaced pack is kept: nodes may still be reading it. */
const keptReplaced = hour
/** Milliseconds for which a pack without a row is kept: the node that uploaded it names it within an hour, or never. */
const keptOrphan = 24 * hour

type Shared = { repositories: Pick<Repositories, 'replacedBefore' | 'forgetPack' | 'named'>; packs: PackStore }

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
