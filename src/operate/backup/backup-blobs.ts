import { createHash } from 'node:crypto'
import { constants, createReadStream } from 'node:fs'
import { copyFile, mkdir, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Kysely } from 'kysely'
import { BlobNotFound, type BlobStore } from '../../state/blobs/blob-store.ts'
import type { Schema } from '../../state/database/schema.ts'
import { inTransaction } from '../../state/database/transaction.ts'
import type { Sources } from '../../state/sources/sources.ts'
import { forEachAtOnce } from '../../system/concurrency/for-each-at-once.ts'
import { hasCode } from '../../system/error-code.ts'
import type { ReceivedFile } from '../../system/received-file.ts'
import { BackupError, type Manifest } from './backup-manifest.ts'

const blobsAtOnce = 6

/** Returns the SHA-256 of the bytes of each Source of some knowledge bases, each once. */
export async function blobsOf(sources: Pick<Sources, 'all'>, kbIds: readonly string[]): Promise<string[]> {
  const hashes = new Set<string>()
  for (const id of kbIds) for (const { contentHash } of await sources.all(id)) hashes.add(contentHash)
  return [...hashes]
}

/** Copies blobs from a store into the folder of a backup. @returns those that the store lacks */
export async function copyBlobs(blobs: BlobStore, hashes: readonly string[], folder: string): Promise<string[]> {
  const missing: string[] = []
  await forEachAtOnce(hashes, blobsAtOnce, async (sha256) => {
    const copy = blobPath(folder, sha256)
    await mkdir(dirname(copy), { recursive: true, mode: 0o700 })
    try {
      await blobs.withFile(sha256, (path) => copyFile(path, copy, constants.COPYFILE_FICLONE))
    } catch (error) {
      if (!(error instanceof BlobNotFound)) throw error
      missing.push(sha256)
    }
  })
  return missing
}

/**
 * Reads a blob of a backup.
 * @returns why it cannot be restored, if its bytes were missing or damaged when the backup was made
 * @throws {BackupError} if the backup has lost it
 */
export async function readBlob(
  folder: string,
  sha256: string,
  { missingBlobs }: Pick<Manifest, 'missingBlobs'>,
): Promise<ReceivedFile | string> {
  if (!/^[0-9a-f]{64}$/.test(sha256)) return `a Source has the hash ${JSON.stringify(sha256)}, which is none`
  const path = blobPath(folder, sha256)
  const hash = createHash('sha256')
  try {
    await pipeline(createReadStream(path), hash)
  } catch (error) {
    if (!hasCode(error, 'ENOENT', 'ENOTDIR')) throw error
    // Backups without this list were made without the bytes in a bucket.
    if (missingBlobs?.includes(sha256) === false) {
      throw new BackupError(`The backup has lost the blob ${sha256}. To restore the rest: --allow-missing.`)
    }
    return `the backup has no bytes of ${sha256}`
  }
  if (hash.digest('hex') !== sha256) return `the bytes of ${sha256} are damaged`
  return { path, sha256, size: (await stat(path)).size }
}

/**
 * Stores blobs of a backup, and records each at once, since Sources will name them. Existing ones are skipped.
 * @param scratch folder on the store's file system
 */
export async function putBlobs(
  { blobs, db }: { blobs: BlobStore; db: Kysely<Schema> },
  files: readonly ReceivedFile[],
  scratch: string,
): Promise<void> {
  await forEachAtOnce(files, blobsAtOnce, async (file) => {
    if (await blobs.has(file.sha256)) return
    const path = join(scratch, file.sha256) // The store may move the file.
    try {
      await copyFile(file.path, path, constants.COPYFILE_FICLONE)
      await blobs.keep({ ...file, path }, (note) => inTransaction(db, note))
    } finally {
      await rm(path, { force: true })
    }
  })
}

function blobPath(folder: string, sha256: string): string {
  return join(folder, sha256.slice(0, 2), sha256.slice(2, 4), sha256)
}
