import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Context } from '../../kb/context.ts'

/** Removes what an earlier process was receiving or reading. Only for a process that has the data directory to itself. */
export async function removeReceived({ directory }: Context): Promise<void> {
  // A program that was reading a document for that process may still be ending.
  const options = { recursive: true, force: true, maxRetries: 5 }
  for (const name of await readdir(directory.incoming)) await rm(join(directory.incoming, name), options)
}

export async function sweepUploads({ uploads, uploadBytes, now }: Context): Promise<void> {
  await uploads.sweep(now())
  await uploadBytes.sweep()
}

export async function sweepBlobs({ blobs, sources, now }: Context): Promise<void> {
  await blobs.sweep((sha256) => sources.hasBytes(sha256), now())
}
