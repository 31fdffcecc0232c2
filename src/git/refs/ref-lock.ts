import { randomBytes } from 'node:crypto'
import { link, readdir, stat, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { writeSynced } from '../../system/durable-file.ts'
import { hasCode } from '../../system/error-code.ts'
import { GitError } from '../git-error.ts'
import { isProcessGone, processToken } from '../process-token.ts'
import { staleLockAfterMs, unlessMissing } from './stale-lock.ts'

const patienceMs = 15_000

const lockOwnerPrefix = 'ganglion-lock.'

/**
 * Takes a lock of git: a file that only one can make. One that outlived its writer is taken away.
 * @param owner a file that names our process. The lock is a hard link to it, so that after a crash the next holder can tell whose it was.
 * @throws {GitError} `lock-held` when another writer keeps it
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

/** Whether a lock outlived its writer: ours, whose process is gone, or anybody's, that has been there for long. */
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

/** Removes what crashed writers left behind: lock owners whose process is gone, together with the locks they held. */
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

/** Holds the locks of some files of a repository while `use` runs. @param content what the locks hold, and whether it is flushed. */
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
    // One that was renamed is no longer there.
    for (const lock of held) await unlink(lock).catch(unlessMissing)
    await unlink(owner)
  }
}
