import { randomBytes } from 'node:crypto'
import { link, readdir, stat, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { writeSynced } from '../../system/durable-file.ts'
import { hasCode } from '../../system/error-code.ts'
import { GitError } from '../git-error.ts'
import { isProcessGone, processToken } from '../process-token.ts'

const patienceMs = 15_000

const lockOwnerPrefix = 'ganglion-lock.'

/**
 * Takes a lock of git, a file that only one process can create. Removes an abandoned one.
 * @param owner file that names our process. The lock is a hard link to it, so that after a crash the next holder can tell whose it was.
 * @throws {GitError} `lock-held` if another writer keeps it
 */
async function takeLock(gitDir: string, owner: string, lock: string): Promise<void> {
  const until = Date.now() + patienceMs
  for (let wait = 1; ; wait = Math.min(wait * 2, 50)) {
    try {
      return await link(owner, lock)
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw error
    }
    if (await isAbandoned(gitDir, lock)) await unlink(lock).catch(unlessMissing)
    else if (Date.now() > until) throw new GitError('lock-held', `${lock} is held by another writer`)
    else await delay(wait * (0.5 + Math.random()))
  }
}

/** True if a lock is abandoned: one of ours whose process is gone, or any that is old. */
async function isAbandoned(gitDir: string, lock: string): Promise<boolean> {
  const held = await stat(lock).catch(unlessMissing)
  if (held === undefined) return false
  if (Date.now() - held.mtimeMs > staleLockAfterMs) return true
  for (const name of await readdir(gitDir)) {
    if (!isAbandonedOwner(name)) continue
    const owner = await stat(join(gitDir, name)).catch(unlessMissing)
    if (owner?.ino === held.ino) return true
  }
  return false
}

/** Removes leftovers of crashed writers: lock owners whose process is gone, with their locks. */
export async function clearAbandonedLocks(gitDir: string, refs: readonly string[]): Promise<void> {
  for (const ref of refs) {
    const lock = join(gitDir, `${ref}.lock`)
    if (await isAbandoned(gitDir, lock)) await unlink(lock).catch(unlessMissing)
  }
  for (const name of await readdir(gitDir)) {
    if (isAbandonedOwner(name)) await unlink(join(gitDir, name)).catch(unlessMissing)
  }
}

function isAbandonedOwner(name: string): boolean {
  return name.startsWith(lockOwnerPrefix) && isProcessGone(name.slice(lockOwnerPrefix.length))
}

/** Holds the locks of some files of a repository while `use` runs. @param content of the lock files, and whether it is flushed */
export async function withLocks<T>(
  gitDir: string,
  locks: readonly string[],
  { content, isDurable }: { content: string; isDurable: boolean },
  use: () => Promise<T>,
): Promise<T> {
  const owner = join(gitDir, `${lockOwnerPrefix}${processToken}.${randomBytes(6).toString('hex')}`)
  const held: string[] = []
  await (isDurable ? writeSynced(owner, content) : writeFile(owner, content))
  try {
    for (const lock of locks) {
      await takeLock(gitDir, owner, lock)
      held.push(lock)
    }
    return await use()
  } finally {
    // A lock that was renamed no longer exists.
    for (const lock of held) await unlink(lock).catch(unlessMissing)
    await unlink(owner)
  }
}

/** Milliseconds after which a lock of another writer counts as left behind by a crash. */
export const staleLockAfterMs = 10_000

/** True if nobody has written to a file for a time; undefined if it does not exist. */
export async function isStale(path: string, staleAfterMs: number): Promise<boolean | undefined> {
  const held = await stat(path).catch(unlessMissing)
  return held && Date.now() - held.mtimeMs > staleAfterMs
}

/** Removes a lock of git to which nobody has written for a time. */
export async function clearStaleLock(path: string, staleAfterMs: number): Promise<void> {
  if (await isStale(path, staleAfterMs)) await unlink(path).catch(unlessMissing)
}

/**
 * Removes the files that a killed git leaves while it writes `packed-refs`, because no other git can write that file then.
 * @param staleAfterMs milliseconds without a write
 */
export async function clearPackedRefsLock(gitDir: string, staleAfterMs: number): Promise<void> {
  const paths = ['packed-refs.new', 'packed-refs.lock'].map((name) => join(gitDir, name))
  const stale = await Promise.all(paths.map((path) => isStale(path, staleAfterMs)))
  // A running git keeps writing to its new file.
  if (stale.includes(false)) return
  for (const [at, path] of paths.entries()) if (stale[at]) await unlink(path).catch(unlessMissing)
}

export function unlessMissing(error: unknown): undefined {
  if (!hasCode(error, 'ENOENT')) throw error
}
