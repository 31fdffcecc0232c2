import { stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode } from '../../system/error-code.ts'

/** A lock on a ref that another writer has held for longer than this, in milliseconds, is taken to be left behind by a crash. */
export const staleLockAfterMs = 10_000

/** Whether nobody has written to a file for long; undefined where there is none. */
export async function isStale(path: string, staleAfterMs: number): Promise<boolean | undefined> {
  const held = await stat(path).catch(unlessMissing)
  return held && Date.now() - held.mtimeMs > staleAfterMs
}

/** Removes a lock of git that nobody has written to for long. */
export async function clearStaleLock(path: string, staleAfterMs: number): Promise<void> {
  if (await isStale(path, staleAfterMs)) await unlink(path).catch(unlessMissing)
}

/**
 * Removes the files that a git leaves behind when it is killed while it writes `packed-refs`. As long as they are there, no other git
 * can write that file.
 * @param staleAfterMs how long nobody has written to them
 */
export async function clearPackedRefsLock(gitDir: string, staleAfterMs: number): Promise<void> {
  const paths = ['packed-refs.new', 'packed-refs.lock'].map((name) => join(gitDir, name))
  const stale = await Promise.all(paths.map((path) => isStale(path, staleAfterMs)))
  // A git that is at work keeps its new file growing.
  if (stale.includes(false)) return
  for (const [at, path] of paths.entries()) if (stale[at]) await unlink(path).catch(unlessMissing)
}

export function unlessMissing(error: unknown): undefined {
  if (!hasCode(error, 'ENOENT')) throw error
}
