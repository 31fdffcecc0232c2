import type { S3Object } from './s3-bucket.ts'

/** Keys that are looked up in one statement. */
const keysAtOnce = 500

type Objects = { list(): AsyncIterable<S3Object> }
/** Gives those of some keys that are named. */
type Named = (keys: readonly string[]) => Promise<ReadonlySet<string>>

/**
 * Removes objects that were stored before a time and that nothing names. That is safe where a key is used once, and named within a
 * shorter time than lies between then and now, or never.
 * @returns how many it removed
 */
export async function sweepUnnamed(
  objects: Objects & { delete(key: string): Promise<void> },
  before: Date,
  named: Named,
): Promise<number> {
  let removed = 0
  for await (const key of unnamedKeys(objects, named, before)) {
    await objects.delete(key)
    removed++
  }
  return removed
}

/** The keys of objects that were stored before a time and that nothing names. */
export async function* unnamedKeys(objects: Objects, named: Named, before: Date): AsyncGenerator<string> {
  let keys: string[] = []
  for await (const { key, storedAt } of objects.list()) {
    if (storedAt >= before) continue
    keys.push(key)
    if (keys.length < keysAtOnce) continue
    yield* without(keys, await named(keys))
    keys = []
  }
  if (keys.length > 0) yield* without(keys, await named(keys))
}

function without(keys: readonly string[], named: ReadonlySet<string>): string[] {
  return keys.filter((key) => !named.has(key))
}
