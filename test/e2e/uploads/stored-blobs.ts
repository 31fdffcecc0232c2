import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { OpenContext } from '../../../src/app/open-context.ts'
import { S3Bucket } from '../../../src/state/s3/s3-bucket.ts'

/**
 * The SHA-256 of all bytes that are stored. A bucket may hold the same bytes twice after two uploads at once, of which a sweep removes
 * those that nothing names.
 */
export async function storedBlobs(ctx: OpenContext): Promise<Set<string>> {
  return new Set((await placesOf(ctx)).map((place) => /[0-9a-f]{64}/.exec(place)?.[0] ?? place))
}

/** Removes them behind the server's back. */
export async function removeBlobs(ctx: OpenContext): Promise<void> {
  for (const place of await placesOf(ctx)) {
    if (ctx.bucket === undefined) rmSync(place)
    else await new S3Bucket(ctx.bucket).delete(place)
  }
}

/** Paths in the data directory, or keys of the bucket. */
async function placesOf({ bucket, directory }: OpenContext): Promise<string[]> {
  if (bucket === undefined) {
    const entries = readdirSync(directory.blobs, { recursive: true, withFileTypes: true })
    return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  }
  const keys: string[] = []
  for await (const { key } of new S3Bucket(bucket).list()) keys.push(key)
  return keys
}
