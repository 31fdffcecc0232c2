import type { S3Object } from './s3-bucket.ts'

/** Maximum keys in one query. */
const keysAtOnce = 500

type Objects = { list(): AsyncIterable<S3Object> }
/** Returns those keys that rows refer to. */
type Named = (keys: readonly string[]) => Promise<ReadonlySet<string>>

/**
 * Removes objects that were stored before a time and that no row refers to. This is safe if a key is used once, and a row refers
 * to it within less time than has passed since, or never.
 * @returns the number of removed objects
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

/** Yields the keys of objects that were stored before a time and that no row refers to. */
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
