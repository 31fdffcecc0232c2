import { existsSync } from 'node:fs'
import { chmod, constants, copyFile, cp, readdir, rename, rm, rmdir, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { syncDirectory, syncTree } from '../../files/durable-file.ts'
import { readBundle } from '../../git/bundle.ts'
import { fsck } from '../../git/fsck.ts'
import { listRefs } from '../../git/refs/refs.ts'
import { Repository } from '../../git/repository.ts'
import { maxNumber } from '../../knowledge/seq-id.ts'
import { DataDirectory } from '../../store/data-directory.ts'
import { acquireLock } from '../../store/directory-lock.ts'
import { operator } from '../create-kb.ts'
import { Ganglion } from '../ganglion.ts'
import { type KbIdentity, KnowledgeBase } from '../knowledge-base/knowledge-base.ts'
import { raiseSeqFloor } from '../knowledge-base/seq-numbers.ts'
import { BackupError, backupFiles, type Manifest, readManifest } from './backup-manifest.ts'

export type RestoredKb = {
  id: string
  slug: string
  /** The next seqId's number is above it. */
  seqFloor: number
  /** What git's own check says of the repository, as it did where the backup was made. */
  warnings: string[]
}

/** Numbers that may have been given after the backup was made, and may have been cited: they are not given again. */
const numbersLeftOut = 10_000
const fsckLimitMs = 30 * 60_000

/**
 * Makes a data directory from a backup. It is built beside its place and moved there whole, so that a restore that is cut
 * off leaves nothing in it.
 * @param target does not exist, or is empty.
 * @throws {BackupError} for a target that is in use, and a backup that is not whole or was made by a newer version;
 *   {DataDirectoryInUse} while another restore is building the same.
 */
export async function restore(source: string, target: string): Promise<{ dataDir: string; kbs: RestoredKb[] }> {
  const dir = resolve(source)
  const dataDir = resolve(target)
  const manifest = await readManifest(dir)
  await requireVacant(dataDir)
  const directory = DataDirectory.open(`${dataDir}.restoring`)
  const release = await acquireLock(directory, { waitMs: 0 })
  let kbs: RestoredKb[]
  try {
    kbs = await build(dir, manifest, directory)
    await syncTree(directory.root)
  } catch (error) {
    release()
    await rm(directory.root, { recursive: true, force: true })
    throw error
  }
  release()
  if (existsSync(dataDir)) await rmdir(dataDir)
  await rename(directory.root, dataDir)
  await syncDirectory(dirname(dataDir))
  return { dataDir, kbs }
}

async function requireVacant(dataDir: string): Promise<void> {
  if (!existsSync(dataDir)) return
  if ((await readdir(dataDir)).length > 0) {
    throw new BackupError(
      `${dataDir} is not empty. Stop the server that uses it, move it away (mv ${dataDir} ${dataDir}.old), and restore again.`,
    )
  }
  if ((await stat(dataDir)).dev !== (await stat(dirname(dataDir))).dev) {
    throw new BackupError(
      `${dataDir} is a mount point: restore into a folder in it, such as ${join(dataDir, 'ganglion')}.`,
    )
  }
}

async function build(dir: string, manifest: Manifest, { root }: DataDirectory): Promise<RestoredKb[]> {
  for (const name of await readdir(root)) {
    // What a restore that was cut off has left.
    if (!name.startsWith('lock')) await rm(join(root, name), { recursive: true })
  }
  const directory = DataDirectory.open(root)
  const files = backupFiles(dir)
  await copyFile(files.database, directory.database, constants.COPYFILE_FICLONE)
  await chmod(directory.database, 0o600)
  if (existsSync(files.blobs)) {
    await cp(files.blobs, directory.blobs, { recursive: true, mode: constants.COPYFILE_FICLONE })
  }
  const ganglion = await Ganglion.open({ dataDir: root })
  try {
    // Those that were ended since the backup must not come back.
    await ganglion.sessions.clear()
    await ganglion.oneTimeLinks.clear()
    const kbs: RestoredKb[] = []
    for (const identity of await ganglion.knowledgeBases.list()) {
      const entry = manifest.kbs.find(({ id }) => id === identity.id)
      if (entry === undefined) throw new BackupError(`${dir} has no repository of ${identity.slug} (${identity.id}).`)
      kbs.push(await restoreKb(ganglion, identity, entry, files.bundle(identity.id)))
    }
    return kbs
  } finally {
    await ganglion.close()
  }
}

async function restoreKb(
  ganglion: Ganglion,
  identity: KbIdentity,
  { refs, highestNumber }: Manifest['kbs'][number],
  file: string,
): Promise<RestoredKb> {
  const { id, slug } = identity
  const gitDir = ganglion.directory.repository(id)
  const repository = await Repository.init(gitDir)
  repository.close()
  const expected = Object.entries(refs)
  if (expected.length > 0) {
    await readBundle(gitDir, file).catch((cause: Error) => {
      throw new BackupError(`${basename(file)} cannot be read: ${cause.message}`, { cause })
    })
  }
  const restored = await listRefs(gitDir)
  if (restored.size !== expected.length || expected.some(([ref, oid]) => restored.get(ref) !== oid)) {
    throw new BackupError(`${basename(file)} does not hold the refs of ${slug} that the manifest names.`)
  }
  const warnings = await fsck(gitDir, AbortSignal.timeout(fsckLimitMs))
  const seqFloor = Math.min(highestNumber + numbersLeftOut, maxNumber)
  await raiseFloor(ganglion, identity, seqFloor)
  await ganglion.openKb(identity)
  return { id, slug, seqFloor, warnings }
}

/** Before the knowledge base is opened for good, which may approve what was left unfinished. */
async function raiseFloor({ directory, parser, now }: Ganglion, identity: KbIdentity, floor: number): Promise<void> {
  const [gitDir, indexDir] = [directory.repository(identity.id), directory.index(identity.id)]
  const kb = new KnowledgeBase(identity, { gitDir, indexDir, parser })
  try {
    await kb.write((staging) => raiseSeqFloor(kb, staging, { floor, actor: operator, at: now() }))
  } finally {
    await kb.close()
  }
}
