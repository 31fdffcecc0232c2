import { hash } from 'node:crypto'
import { constants } from 'node:fs'
import { copyFile, mkdir, readdir, readFile, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, relative, sep } from 'node:path'
import type { Kysely } from 'kysely'
import { z } from 'zod'
import { parseJson } from '../../contract/json.ts'
import { isUuid } from '../../rules/candidates/candidate-id.ts'
import { BlobNotFound, type BlobStore } from '../../state/blobs/blob-store.ts'
import { isKnownMigration } from '../../state/database/migrations/migrations.ts'
import type { Schema } from '../../state/database/schema.ts'
import { inTransaction } from '../../state/database/transaction.ts'
import type { Sources } from '../../state/sources/sources.ts'
import { forEachAtOnce } from '../../system/concurrency/for-each-at-once.ts'
import { hasCode } from '../../system/error-code.ts'
import { type ReceivedFile, sha256OfFile } from '../../system/received-file.ts'

/** Thrown if a backup cannot be made at a place, or cannot be restored. */
export class BackupError extends Error {}

const Oid = z.string().regex(/^[0-9a-f]{40}$/)

const Manifest = z.object({
  /** Format. Backups of format 1 have no checksum of the manifest. */
  format: z.literal([1, 2]),
  schema: z.string(),
  /** Time of the backup: ISO 8601, UTC. */
  createdAt: z.iso.datetime(),
  /** Version of Ganglion that wrote it. */
  ganglion: z.string(),
  kbs: z.array(
    z.object({
      id: z.string().refine(isUuid),
      slug: z.string(),
      tenant: z.string(),
      refs: z.record(z.string(), Oid),
      /** Highest seqId number that was assigned or is reserved. */
      highestNumber: z.int().min(0),
    }),
  ),
  /** SHA-256 of bytes of Sources that were missing at the time. Absent in earlier backups. */
  missingBlobs: z.array(z.string()).exactOptional(),
  /** SHA-256 of each other file, by its path in the folder. Absent in earlier backups. */
  files: z.record(z.string(), z.string()).exactOptional(),
  /** SHA-256 of the manifest without this field, as compact JSON. */
  sha256: z.string().exactOptional(),
})

/** Content of a backup. It is written last, so that a folder without it is no backup. */
export type Manifest = z.infer<typeof Manifest>

const manifestName = 'manifest.json'

export function backupFiles(dir: string) {
  return {
    manifest: join(dir, manifestName),
    database: join(dir, 'ganglion.db'),
    blobs: join(dir, 'blobs'),
    repositories: join(dir, 'repos'),
    bundle: (kbId: string) => join(dir, 'repos', `${kbId}.bundle`),
  }
}

/** Returns a manifest with its checksum. */
export function withChecksum(manifest: Omit<Manifest, 'format' | 'sha256'>): Manifest {
  const content = { format: 2, ...manifest } as const
  return { ...content, sha256: checksumOf(content) }
}

function checksumOf(content: object): string {
  return hash('sha256', JSON.stringify(content))
}

/** Reads a manifest. @throws {BackupError} if there is no complete backup, or one that this version cannot read */
export async function readManifest(dir: string): Promise<Manifest> {
  const { manifest } = backupFiles(dir)
  const text = await readFile(manifest, 'utf8').catch((cause: unknown) => {
    throw new BackupError(`${dir} holds no whole backup: there is no manifest.json, which is written last.`, { cause })
  })
  const data = parseJson(text)
  if (data === undefined) throw new BackupError(`${manifest} is damaged.`)
  const { sha256, ...content } = z.looseObject({}).catch({}).parse(data)
  const { format } = content
  if (format !== 1 && format !== 2) {
    throw new BackupError(
      `${dir} has the format ${JSON.stringify(format)}, which this version of Ganglion does not know.`,
    )
  }
  // This is checked before the content is used: a flipped bit in the key "files" would hide all other checksums.
  if ((format === 2 || sha256 !== undefined) && sha256 !== checksumOf(content))
    throw new BackupError(`${manifest} is not what was written. Restore another backup.`)
  const { data: parsed, error } = Manifest.safeParse(data)
  if (parsed === undefined) throw new BackupError(`${manifest} is damaged: ${z.prettifyError(error)}`)
  if (!isKnownMigration(parsed.schema)) {
    throw new BackupError(
      `${dir} was made by a newer version of Ganglion, ${parsed.ganglion} (its schema is ${parsed.schema}): restore it with that.`,
    )
  }
  return parsed
}

/** Returns the SHA-256 of a backup's files, by path in its folder. The file of a Source has its sum as its name, and is not read. */
export async function sumsOf(dir: string): Promise<Record<string, string>> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  const sums: Record<string, string> = {}
  for (const path of paths.toSorted()) {
    const name = relative(dir, path).replaceAll(sep, '/')
    if (name !== manifestName) sums[name] = isOfSource(name) ? basename(name) : await sha256OfFile(path)
  }
  return sums
}

/**
 * Returns the problems of a backup's files, a sentence each. An earlier backup without sums cannot be checked.
 * @param options.sources true to check the files of Sources, too, which a restore checks one by one
 */
export async function findDamage(
  dir: string,
  { files = {} }: Pick<Manifest, 'files'>,
  { sources }: { sources: boolean },
): Promise<string[]> {
  const damage: string[] = []
  for (const [name, sum] of Object.entries(files)) {
    if (!sources && isOfSource(name)) continue
    const found = await sha256OfFile(join(dir, name)).catch((error: unknown) => {
      if (!hasCode(error, 'ENOENT', 'ENOTDIR')) throw error
    })
    if (found !== sum) damage.push(`${name} is ${found === undefined ? 'missing' : 'not what was written'}`)
  }
  return damage
}

/** Checks all files but those of Sources. @throws {BackupError} naming the damaged files */
export async function requireUndamaged(dir: string, manifest: Manifest): Promise<void> {
  const damage = await findDamage(dir, manifest, { sources: false })
  if (damage.length > 0) throw new BackupError(`${dir} is damaged: ${damage.join('; ')}. Restore another backup.`)
}

function isOfSource(name: string): boolean {
  return name.startsWith('blobs/')
}

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
  let found: string
  try {
    found = await sha256OfFile(path)
  } catch (error) {
    if (!hasCode(error, 'ENOENT', 'ENOTDIR')) throw error
    // Backups without this list were made without the bytes in a bucket.
    if (missingBlobs?.includes(sha256) === false) {
      throw new BackupError(`The backup has lost the blob ${sha256}. To restore the rest: --allow-missing.`)
    }
    return `the backup has no bytes of ${sha256}`
  }
  if (found !== sha256) return `the bytes of ${sha256} are damaged`
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
