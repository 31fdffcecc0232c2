import { createHash, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import type { ContextOptions } from '../../app/open-context.ts'
import { Cluster } from '../../kb/cluster/cluster.ts'
import { type PutRepository, putRepository } from '../../kb/cluster/pack-cache.ts'
import { sharedRefs } from '../../kb/refs/kb-refs.ts'
import { blobBucket, openSourceStores } from '../../state/blobs/open-source-stores.ts'
import type { Database } from '../../state/database/database.ts'
import { runUnlessRunning } from '../../state/database/engines/advisory-lock.ts'
import { loadPostgres } from '../../state/database/engines/postgres-copy.ts'
import { openDatabase } from '../../state/database/open-database.ts'
import { beginRestore, finishRestore, rehearseRestore, unfinishedRestore } from '../../state/database/restored-state.ts'
import { DataDirectory, requireOwner } from '../../state/directory/data-directory.ts'
import { acquireLock } from '../../state/directory/directory-lock.ts'
import { insertRepository } from '../../state/directory/repositories.ts'
import { S3Bucket, type S3Options } from '../../state/s3/s3-bucket.ts'
import { syncDirectory, syncTree } from '../../system/durable-file.ts'
import { readIfThere } from '../../system/read-if-there.ts'
import type { ReceivedFile } from '../../system/received-file.ts'
import { BackupError, backupFiles, type Manifest, putBlobs, readManifest, requireUndamaged } from './backup-manifest.ts'
import { buildFolder, type RestoredKb, type RestoreOptions, restoreMark } from './restored-folder.ts'

export type RestoreTarget = Pick<ContextOptions, 'dataDir' | 'database' | 'bucket' | 'objects'>

export type Restored = {
  /** Data directory for the parts that are not in the database or a bucket. A cluster has none. */
  dataDir: string
  kbs: RestoredKb[]
}

/**
 * Restores a deployment of any kind from a backup. The data directory of one machine is built next to its final place first, so that a
 * backup that cannot be restored changes nothing. Then objects are put into the bucket, if there is one. The parts that servers go by come
 * last, atomically: the rows in one transaction, or the folder by its name. An interrupted restore can be repeated.
 * @param target must be vacant, wherever its parts are
 * @throws {BackupError} for a target that is in use, and a backup that is incomplete or from a newer version; {DatabaseNotVacant};
 * {DataDirectoryInUse} while another restore builds the same one; errors of the database and the bucket
 */
export async function restore(source: string, target: RestoreTarget, options: RestoreOptions = {}): Promise<Restored> {
  const dir = resolve(source)
  const manifest = await readManifest(dir)
  await requireUndamaged(dir, manifest)
  const place = { ...target, dataDir: resolve(target.dataDir) }
  requireOwner(place.dataDir)
  if (target.database === undefined) return restoreInto(undefined, { dir, manifest, place, options })
  await using database = await openDatabase(target.database)
  const order = { dir, manifest, place, options }
  const restored = await runUnlessRunning(database.db, 'restore', () => restoreInto(database, order))
  if (restored === undefined) throw new BackupError('Another restore into the database is under way.')
  return restored
}

type Order = { dir: string; manifest: Manifest; place: RestoreTarget; options: RestoreOptions }

/** Restores a backup. @param database absent for a file in the data directory */
async function restoreInto(
  database: Database | undefined,
  { dir, manifest, place, options }: Order,
): Promise<Restored> {
  const { dataDir, objects } = place
  const root = `${dataDir}.restoring`
  const cutOff = database === undefined ? readIfThere(restoreMark(root)) : await unfinishedRestore(database.db)
  // Backups without this list were made without the bytes in a bucket, which are still there.
  const holdsBytes = manifest.missingBlobs !== undefined || existsSync(backupFiles(dir).blobs)
  const bucket = holdsBytes ? blobBucket(place) : undefined
  const buckets = new RestoreBuckets(
    [objects, holdsBytes ? place.bucket : undefined].filter((one) => one !== undefined),
  )
  await buckets.requireVacant(cutOff)
  // The data directory of a cluster is a cache.
  if (objects === undefined) await requireVacant(dataDir, cutOff)
  const directory = DataDirectory.open(root)
  const release = await acquireLock(directory, { waitMs: 0 })
  const mark = cutOff ?? `${new Date().toISOString()}-${randomBytes(8).toString('hex')}`
  const repositories: PutRepository[] = []
  let isBegun = cutOff !== undefined
  let kbs: RestoredKb[]
  try {
    const built = await buildFolder(dir, manifest, directory, options)
    kbs = built.kbs
    if (database !== undefined) {
      await rehearseRestore(database.db, (transaction) => loadPostgres(transaction, directory.database))
      await beginRestore(database.db, mark)
    }
    isBegun ||= database !== undefined || bucket !== undefined
    await writeFile(restoreMark(root), mark)
    await buckets.begin(mark, restoreMark(root))
    await putSources(built.blobs, { directory, database, bucket })
    for (const { id, warnings } of kbs) {
      if (database === undefined || objects === undefined) break
      const repository = { kbId: id, gitDir: directory.repository(id), refs: sharedRefs }
      repositories.push(await putRepository(new Cluster(database, objects).packs, repository))
      const others = Object.keys(manifest.kbs.find((kb) => kb.id === id)?.refs ?? {})
      warnings.push(
        ...others.filter((ref) => !sharedRefs.includes(ref)).map((ref) => `${ref} has no place in a cluster`),
      )
    }
    await syncTree(root)
  } catch (error) {
    release()
    // A restore that has begun can be repeated: the mark in the folder identifies it.
    if (!isBegun) await rm(root, { recursive: true, force: true })
    throw error
  }
  release()
  await publish(database, { directory, dataDir, isShared: objects !== undefined, repositories, buckets, mark })
  return { dataDir, kbs }
}

type SourcesPlace = { directory: DataDirectory; database: Database | undefined; bucket: S3Options | undefined }

async function putSources(files: readonly ReceivedFile[], place: SourcesPlace): Promise<void> {
  const { directory, database, bucket } = place
  const rows = database ?? (await openDatabase(directory.database))
  try {
    const places = { directory, database: rows, now: rows.now, bucket, objects: undefined }
    await putBlobs({ blobs: openSourceStores(places).blobs, db: rows.db }, files, directory.incoming)
  } finally {
    if (rows !== database) await rows.close()
  }
}

type Built = {
  directory: DataDirectory
  dataDir: string
  /** True if the repositories are in the bucket. */
  isShared: boolean
  repositories: readonly PutRepository[]
  buckets: RestoreBuckets
  mark: string
}

/** Makes the restored state visible to servers. */
async function publish(database: Database | undefined, built: Built): Promise<void> {
  const { directory, dataDir, isShared, repositories, buckets, mark } = built
  const { root } = directory
  if (database === undefined) {
    await buckets.end(mark)
    await rm(restoreMark(root))
    await moveFolder(root, dataDir)
    return
  }
  const rows = join(isShared ? root : dataDir, basename(directory.database))
  if (!isShared) await moveFolder(root, dataDir)
  await finishRestore(database.db, async (transaction) => {
    await loadPostgres(transaction, rows)
    for (const repository of repositories) await insertRepository(transaction, repository)
  })
  // The restore is complete, so a mark that cannot be removed now is harmless.
  await buckets.end(mark).catch(() => {})
  if (isShared) await rm(root, { recursive: true })
  else for (const file of [restoreMark(dataDir), rows]) await rm(file)
}

async function moveFolder(from: string, to: string): Promise<void> {
  if (existsSync(to)) await rmdir(to)
  await rename(from, to)
  await syncDirectory(dirname(to))
}

/** Checks that there is no data directory. @param cutOff mark of the interrupted restore that is repeated */
async function requireVacant(dataDir: string, cutOff: string | undefined): Promise<void> {
  if (!existsSync(dataDir)) return
  if (cutOff !== undefined && readIfThere(restoreMark(dataDir)) === cutOff) {
    await rm(dataDir, { recursive: true }) // The database has no rows yet.
  } else if ((await readdir(dataDir)).length > 0) {
    throw new BackupError(
      `${dataDir} is not empty. Stop the server that uses it, move it away (mv ${dataDir} ${dataDir}.old), and restore again.`,
    )
  } else if ((await stat(dataDir)).dev !== (await stat(dirname(dataDir))).dev) {
    throw new BackupError(
      `${dataDir} is a mount point: restore into a folder in it, such as ${join(dataDir, 'ganglion')}.`,
    )
  }
}

/**
 * Prefixes of buckets into which a restore puts objects. An object named after the restore's mark identifies their owner, so that an
 * interrupted restore can be repeated. Nothing is ever removed: objects of a restore that was not repeated are orphans.
 */
class RestoreBuckets {
  readonly #buckets: { name: string; bucket: S3Bucket }[]

  constructor(options: readonly S3Options[]) {
    this.#buckets = options.map((one) => ({ name: `s3://${one.bucket}/${one.prefix}`, bucket: new S3Bucket(one) }))
  }

  /** Checks that the prefixes are empty. @param mark of the interrupted restore @throws {BackupError} if there are objects of others */
  async requireVacant(mark: string | undefined): Promise<void> {
    for (const { name, bucket } of this.#buckets) {
      if (mark !== undefined && (await bucket.has(keyOf(mark)))) continue
      for await (const _ of bucket.list()) {
        throw new BackupError(`${name} is not empty: restore into another prefix, which nobody uses.`)
      }
    }
  }

  /** Stores an object that identifies the restore. @param file temporary file for the mark */
  async begin(mark: string, file: string): Promise<void> {
    await writeFile(file, mark)
    const sha256 = createHash('sha256').update(mark).digest('hex')
    for (const { bucket } of this.#buckets) {
      await bucket.put(keyOf(mark), { path: file, sha256, size: Buffer.byteLength(mark) })
    }
  }

  async end(mark: string): Promise<void> {
    for (const { bucket } of this.#buckets) await bucket.delete(keyOf(mark))
  }
}

function keyOf(mark: string): string {
  return `restoring-${mark}`
}
