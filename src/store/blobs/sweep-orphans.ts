import type { KeyedLock } from '../keyed-lock.ts'
import type { BlobStore } from './blob-store.ts'

/** How long a blob that nothing names is kept, in milliseconds. */
const grace = 24 * 60 * 60 * 1000

/**
 * Removes blobs that nothing names and that were stored a day ago or longer; answers how many.
 * @param locks held for a blob's hash from before it is put until it is named.
 */
export async function sweepOrphans(
  blobs: BlobStore,
  { locks, isNamed, now }: { locks: KeyedLock; isNamed: (sha256: string) => Promise<boolean>; now: Date },
): Promise<number> {
  let removed = 0
  for await (const { sha256, storedAt } of blobs.list()) {
    if (storedAt.getTime() > now.getTime() - grace) continue
    await locks.run(sha256, async () => {
      if (await isNamed(sha256)) return
      await blobs.delete(sha256)
      removed++
    })
  }
  return removed
}
