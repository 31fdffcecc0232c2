import { mkdir, readdir, readFile, rename, rm, rmdir, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { hasCode } from '../../system/error-code.ts'
import type { Oid } from '../objects/object.ts'
import { clearPackedRefsLock, isStale, staleLockAfterMs, unlessMissing, withLocks } from './ref-lock.ts'
import { removePackedRefs } from './refs.ts'

/** Attempts to create a folder that another writer removes because it is empty. */
const attempts = 10

/**
 * Moves many refs below one folder, which are derived from something else and overwritten without a check. Nothing that is made
 * or moved is flushed to the disk: a power cut may lose it, or leave files that {@link clearBrokenRefs} removes.
 * @param changes what each ref is to hold; undefined: it goes.
 * @throws {GitError} `lock-held` where another writer keeps one of them for long.
 */
export async function moveDerivedRefs(
  gitDir: string,
  folder: string,
  changes: ReadonlyMap<string, Oid | undefined>,
): Promise<void> {
  // Removal first, out of the way of names that lie below.
  await removeRefs(
    gitDir,
    folder,
    [...changes].flatMap(([ref, to]) => (to === undefined ? [ref] : [])),
  )
  for (const [ref, to] of changes) if (to !== undefined) await setRef(gitDir, ref, to)
}

/** Under the lock of `packed-refs`, so that nobody packs a ref meanwhile that is to go. */
async function removeRefs(gitDir: string, folder: string, refs: readonly string[]): Promise<void> {
  if (refs.length === 0) return
  await clearPackedRefsLock(gitDir, staleLockAfterMs)
  const nothing = { content: '', isDurable: false }
  await withLocks(gitDir, [join(gitDir, 'packed-refs.lock')], nothing, async () => {
    await removePackedRefs(gitDir, new Set(refs))
    for (const ref of refs) {
      const path = join(gitDir, ref)
      if ((await readFile(path).catch(unlessNoFile)) === undefined) continue
      // A git that has packed the ref may take it away first, and its folder.
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

/** Empty folders are all that may be in a ref's way. */
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
      return // It is not empty, or another process has removed it.
    }
  }
}

/** Removes what a crash left below a folder of derived refs: files that hold no object id, and locks that nobody holds. */
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
