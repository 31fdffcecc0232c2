import { mkdir, readdir, readFile, rename, rm, rmdir, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { hasCode } from '../../system/error-code.ts'
import type { Oid } from '../objects/object.ts'
import { clearPackedRefsLock, isStale, removePackedRefs, staleLockAfterMs, unlessMissing, withLocks } from './refs.ts'

/** Maximum attempts to create a folder that another writer removes because it is empty. */
const attempts = 10

/**
 * Moves many refs in one folder, which are derived from other data and overwritten without a check. Nothing is flushed to disk:
 * a power cut may lose the moves, or leave files that {@link clearBrokenRefs} removes.
 * @param changes new value of each ref; undefined removes it
 * @throws {GitError} `lock-held` if another writer keeps one of them locked for long
 */
export async function moveDerivedRefs(
  gitDir: string,
  folder: string,
  changes: ReadonlyMap<string, Oid | undefined>,
): Promise<void> {
  // Removals first, since new names may be below removed ones.
  await removeRefs(
    gitDir,
    folder,
    [...changes].flatMap(([ref, to]) => (to === undefined ? [ref] : [])),
  )
  for (const [ref, to] of changes) if (to !== undefined) await setRef(gitDir, ref, to)
}

/** Removes refs under the lock of `packed-refs`, so that nobody packs one of them meanwhile. */
async function removeRefs(gitDir: string, folder: string, refs: readonly string[]): Promise<void> {
  if (refs.length === 0) return
  await clearPackedRefsLock(gitDir, staleLockAfterMs)
  const nothing = { content: '', isDurable: false }
  await withLocks(gitDir, [join(gitDir, 'packed-refs.lock')], nothing, async () => {
    await removePackedRefs(gitDir, new Set(refs))
    for (const ref of refs) {
      const path = join(gitDir, ref)
      if ((await readFile(path).catch(unlessNoFile)) === undefined) continue
      // A git that has packed the ref may remove it, and its folder, first.
      await withLocks(gitDir, [`${path}.lock`], nothing, () => unlink(path)).catch(unlessMissing)
      await removeEmptyFolders(dirname(path), join(gitDir, folder))
    }
  })
}

async function setRef(gitDir: string, ref: string, to: Oid): Promise<void> {
  const path = join(gitDir, ref)
  for (let attempt = 1; ; attempt++) {
    try {
      await mkdir(dirname(path), { recursive: true })
      await withLocks(gitDir, [`${path}.lock`], { content: `${to}\n`, isDurable: false }, () => replace(path))
      return
    } catch (error) {
      // Another writer that removes the last ref of a folder also removes the folder.
      if (!hasCode(error, 'ENOENT') || attempt === attempts) throw error
    }
  }
}

/** Renames a lock to its ref. Removes empty folders at the path, which are all that can be in the way. */
async function replace(path: string): Promise<void> {
  try {
    await rename(`${path}.lock`, path)
  } catch (error) {
    if (!hasCode(error, 'EISDIR', 'ENOTEMPTY', 'EEXIST')) throw error
    for (const entry of await readdir(path, { recursive: true, withFileTypes: true })) {
      if (!entry.isDirectory()) throw error
    }
    await rm(path, { recursive: true })
    await rename(`${path}.lock`, path)
  }
}

async function removeEmptyFolders(folder: string, root: string): Promise<void> {
  for (let path = folder; path.length > root.length; path = dirname(path)) {
    try {
      await rmdir(path)
    } catch {
      return // The folder is not empty, or another process has removed it.
    }
  }
}

/** Removes what a crash left in a folder of derived refs: files without an object id, and abandoned locks. */
export async function clearBrokenRefs(gitDir: string, folder: string): Promise<void> {
  const entries = await readdir(join(gitDir, folder), { recursive: true, withFileTypes: true }).catch(unlessMissing)
  for (const entry of entries ?? []) {
    if (entry.isDirectory()) continue
    const path = join(entry.parentPath, entry.name)
    if (await isBroken(path)) await unlink(path).catch(unlessMissing)
  }
}

async function isBroken(path: string): Promise<boolean> {
  if (path.endsWith('.lock')) return (await isStale(path, staleLockAfterMs)) === true
  const content = await readFile(path, 'latin1').catch(unlessMissing)
  return content !== undefined && !/^[0-9a-f]{40}\n?$/.test(content)
}

function unlessNoFile(error: unknown): undefined {
  if (!hasCode(error, 'ENOTDIR', 'EISDIR')) unlessMissing(error)
}
