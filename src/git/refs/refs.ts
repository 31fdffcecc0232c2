import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { link, mkdir, readdir, rename, stat, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { syncDirectory, writeSynced } from '../../files/durable-file.ts'
import { GitError } from '../git-error.ts'
import { isOid, type Oid } from '../objects/object.ts'
import { holder, isHolderGone } from './holder.ts'
import { staleLockAfterMs, unlessMissing } from './stale-lock.ts'

const lockPatienceMs = 15_000

const lockOwnerPrefix = 'ganglion-lock.'

/** The commit that a ref names, or undefined. A loose ref wins over a packed one, as in git. */
export async function readRef(gitDir: string, ref: string): Promise<Oid | undefined> {
  const loose = readIfThere(join(gitDir, ref))
  if (loose !== undefined) {
    const oid = loose.trim()
    if (isOid(oid)) return oid
    throw new GitError('bad-ref', `${ref} does not hold an object id`)
  }
  const packed = readIfThere(join(gitDir, 'packed-refs'))
  if (packed === undefined) return undefined
  const line = packed.split('\n').find((entry) => entry.slice(41) === ref)
  return line?.slice(0, 40)
}

/**
 * Moves a ref from one commit to another, durably, in git's own lock protocol (`<ref>.lock` made exclusively, compare,
 * write, rename), so that native git and other processes may move the same ref at the same time.
 * @param from what the ref must hold now; undefined: it must not exist.
 * @returns false, with nothing changed, when the ref holds something else.
 * @throws {GitError} `lock-held` when another writer keeps the lock.
 */
export async function updateRef(gitDir: string, ref: string, from: Oid | undefined, to: Oid): Promise<boolean> {
  const path = join(gitDir, ref)
  const lock = `${path}.lock`
  // The lock is a hard link to a file that names our process: after a crash the next holder can tell that it was ours.
  const owner = join(gitDir, `${lockOwnerPrefix}${holder}.${randomBytes(6).toString('hex')}`)
  const madeFolder = await mkdir(dirname(path), { recursive: true })
  if (madeFolder !== undefined) await syncDirectory(dirname(madeFolder))
  await writeSynced(owner, `${to}\n`)
  try {
    await takeLock(gitDir, owner, lock)
    let moved = false
    try {
      if ((await readRef(gitDir, ref)) !== from) return false
      await rename(lock, path)
      moved = true
    } finally {
      if (!moved) await unlink(lock)
    }
    await syncDirectory(dirname(path))
    return true
  } finally {
    await unlink(owner)
  }
}

async function takeLock(gitDir: string, owner: string, lock: string): Promise<void> {
  const until = Date.now() + lockPatienceMs
  for (let wait = 1; ; wait = Math.min(wait * 2, 50)) {
    try {
      return await link(owner, lock)
    } catch (error) {
      if (!isCode(error, 'EEXIST')) throw error
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
  return name.startsWith(lockOwnerPrefix) && isHolderGone(name.slice(lockOwnerPrefix.length))
}

/** Every request reads refs. From the page cache that takes a tenth of the time that the thread pool would take. */
function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (isCode(error, 'ENOENT') || isCode(error, 'ENOTDIR') || isCode(error, 'EISDIR')) return undefined
    throw error
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
