import { chmod, constants, copyFile, readdir, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { openContext } from '../../app/open-context.ts'
import { readBundle } from '../../git/bundle.ts'
import { fsck } from '../../git/fsck.ts'
import { listRefs } from '../../git/refs/refs.ts'
import { Repository } from '../../git/repository.ts'
import type { Context } from '../../kb/context.ts'
import { operator } from '../../kb/create-kb.ts'
import type { KbIdentity } from '../../kb/kb-identity.ts'
import { KnowledgeBase } from '../../kb/knowledge-base.ts'
import { nextNumber, raiseSeqFloor } from '../../kb/writing/commits.ts'
import { maxNumber } from '../../rules/neurons/seq-id.ts'
import { forgetOrigin } from '../../state/database/restored-state.ts'
import { DataDirectory } from '../../state/directory/data-directory.ts'
import { inUse } from '../../system/concurrency/present-work.ts'
import type { ReceivedFile } from '../../system/received-file.ts'
import { BackupError, backupFiles, blobsOf, type Manifest, readBlob } from './backup-manifest.ts'

export type RestoredKb = {
  id: string
  slug: string
  /** Number that the next seqIds must exceed. */
  seqFloor: number
  /** Findings of git's own check, which the original had, too, and missing bytes. */
  warnings: string[]
}

export type RestoreOptions = {
  /** True if the original has not been written to since the backup, and never will be: then sessions, one-time links and seqIds continue. */
  isMove?: boolean | undefined
  /** True to report bytes of Sources that the backup has lost as warnings instead of an error. */
  allowMissing?: boolean | undefined
}

/** Number of seqIds to skip, since they may have been assigned and cited after the backup. */
const numbersLeftOut = 10_000
const fsckLimitMs = 30 * 60_000

/**
 * Builds the data directory of one machine from a backup, except for the bytes of Sources.
 * @param root of the new directory, which may contain files of an interrupted restore
 * @returns the hashes of the Sources' bytes to store, each once
 * @throws {BackupError} for an incomplete backup
 */
export async function buildFolder(
  dir: string,
  manifest: Manifest,
  { root }: DataDirectory,
  { isMove = false, allowMissing = false }: RestoreOptions,
): Promise<{ kbs: RestoredKb[]; blobs: ReceivedFile[] }> {
  for (const name of await readdir(root)) {
    if (!name.startsWith('lock') && join(root, name) !== restoreMark(root))
      await rm(join(root, name), { recursive: true })
  }
  const directory = DataDirectory.open(root)
  const files = backupFiles(dir)
  await copyFile(files.database, directory.database, constants.COPYFILE_FICLONE)
  await chmod(directory.database, 0o600)
  await using ctx = await openContext({ dataDir: root })
  await forgetOrigin(ctx.database.db)
  if (!isMove) {
    // Sessions and links that were ended since the backup must not come back.
    await ctx.sessions.clear()
    await ctx.oneTimeLinks.clear()
    // The first comparison finds what the backup lacks.
    for (const { id } of await ctx.forgeLinks.list(undefined, { disabled: true }))
      await ctx.forgeLinks.note(id, { syncedAt: null })
  }
  const kbs: RestoredKb[] = []
  const blobs = new Map<string, ReceivedFile>()
  for (const identity of await ctx.knowledgeBases.all()) {
    const { id, slug } = identity
    const entry = manifest.kbs.find((kb) => kb.id === id)
    if (entry === undefined) throw new BackupError(`${dir} has no repository of ${slug} (${id}).`)
    const restored = await restoreKb(ctx, identity, { entry, file: files.bundle(id), isMove })
    for (const sha256 of await blobsOf(ctx.sources, [id])) {
      const found = blobs.get(sha256) ?? (await readBlob(files.blobs, sha256, allowMissing ? {} : manifest))
      if (typeof found === 'string') restored.warnings.push(found)
      else blobs.set(sha256, found)
    }
    kbs.push(restored)
  }
  return { kbs, blobs: [...blobs.values()] }
}

/** Returns the floor for seqIds of a copy whose original may have assigned more since. */
export function floorAbove(highestNumber: number): number {
  return Math.min(highestNumber + numbersLeftOut, maxNumber)
}

/** Returns the path of the file in a data directory that identifies an unfinished restore. */
export function restoreMark(root: string): string {
  return join(root, 'restoring')
}

async function restoreKb(
  ctx: Context,
  identity: KbIdentity,
  { entry, file, isMove }: { entry: Manifest['kbs'][number]; file: string; isMove: boolean },
): Promise<RestoredKb> {
  const { id, slug } = identity
  const { refs, highestNumber } = entry
  const gitDir = ctx.directory.repository(id)
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
  const seqFloor = isMove ? highestNumber : floorAbove(highestNumber)
  await raiseFloor(ctx, identity, seqFloor)
  await inUse(() => ctx.kbs.open(identity))
  return { id, slug, seqFloor, warnings }
}

/** Raises the floor of seqIds. Must run before the knowledge base is opened for good, which may finish interrupted approvals. */
async function raiseFloor({ directory, parser, now }: Context, identity: KbIdentity, floor: number): Promise<void> {
  const [gitDir, indexDir] = [directory.repository(identity.id), directory.index(identity.id)]
  await using kb = new KnowledgeBase(identity, { gitDir, indexDir, parser })
  await kb.write(async (staging) => {
    if (nextNumber(kb) <= floor) await raiseSeqFloor(kb, staging, { floor, actor: operator, at: now() })
  })
}
