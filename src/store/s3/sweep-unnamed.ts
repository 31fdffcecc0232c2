import type { S3Object } from './s3-bucket.ts'

/** Keys that are looked up in one statement. */
const keysAtOnce = 500

type Objects = { list(): AsyncIterable<S3Object>; delete(key: string): Promise<void> }

/**
 * Removes objects that were stored before a time and that nothing names. That is safe where a key is used once, and named within a
 * shorter time than lies between then and now, or never.
 * @param named gives those of some keys that are named
 * @returns how many it removed
 */
export async function sweepUnnamed(
  objects: Objects,
  before: Date,
  named: (keys: readonly string[]) => Promise<ReadonlySet<string>>,
): Promise<number> {
  let removed = 0
  const remove = async (keys: readonly string[]) => {
    const kept = await named(keys)
    for (const key of keys) {
      if (kept.has(key)) continue
      await objects.delete(key)
      removed++
    }
  }
  let old: string[] = []
  for await (const { key, storedAt } of objects.list()) {
    if (storedAt >= before) continue
    old.push(key)
    if (old.length < keysAtOnce) continue
    await remove(old)
    old = []
  }
  if (old.length > 0) await remove(old)
  return removed
}
