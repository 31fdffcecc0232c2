import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { isBusy } from '../database/engines/sqlite.ts'
import type { DataDirectory } from './data-directory.ts'

/** Thrown if another process holds the data directory's lock. */
export class DataDirectoryInUse extends Error {
  constructor(directory: string) {
    super(
      `The data directory ${directory} is in use by another Ganglion process. Stop it, or choose another directory.`,
    )
  }
}

/** Function that releases a lock. A declaration with `using` calls it at the end of its block. */
type Release = (() => void) & Disposable

/** Milliseconds between two attempts to lock. */
const RETRY_INTERVAL = 25

/**
 * Locks the data directory for this process. Waits at most `waitMs` milliseconds for another process. Returns a function that
 * releases the lock. Throws {@link DataDirectoryInUse}.
 */
export async function acquireLock(directory: DataDirectory, { waitMs }: { waitMs: number }): Promise<Release> {
  const release = await lockFile(directory.lock, { waitMs })
  if (release === undefined) throw new DataDirectoryInUse(directory.root)
  return release
}

/** Locks the data directory like {@link acquireLock}, and only while no command uses it either. */
export async function acquireWhole(directory: DataDirectory): Promise<Release> {
  const release = await acquireLock(directory, { waitMs: 0 })
  const releaseUsers = tryLock(directory.users, 'EXCLUSIVE')
  if (releaseUsers !== undefined)
    return disposable(() => {
      releaseUsers()
      release()
    })
  release()
  throw new DataDirectoryInUse(directory.root)
}

/** Records that this process uses the directory, together with others. Returns a function that ends that. Throws {@link DataDirectoryInUse}. */
export function shareDirectory(directory: DataDirectory): () => void {
  const release = tryLock(directory.users, 'SHARED')
  if (release === undefined) throw new DataDirectoryInUse(directory.root)
  return release
}

/**
 * Locks a file, and waits at most `waitMs` milliseconds for its holder. Returns a function that releases it; undefined if it is
 * still locked. SQLite locks it in the operating system: unlike a pid file, the lock ends with its process.
 */
export async function lockFile(path: string, { waitMs }: { waitMs: number }): Promise<Release | undefined> {
  const deadline = Date.now() + waitMs
  for (;;) {
    const release = tryLock(path, 'EXCLUSIVE')
    if (release !== undefined) return release
    if (Date.now() >= deadline) return undefined
    await sleep(RETRY_INTERVAL)
  }
}

export function isLocked(directory: DataDirectory): boolean {
  if (!existsSync(directory.lock)) return false
  const release = tryLock(directory.lock, 'EXCLUSIVE')
  release?.()
  return release === undefined
}

const statements = {
  EXCLUSIVE: 'PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE',
  SHARED: 'BEGIN; SELECT 1 FROM sqlite_schema',
}

function disposable(release: () => void): Release {
  return Object.assign(release, { [Symbol.dispose]: release })
}

function tryLock(path: string, mode: keyof typeof statements): Release | undefined {
  const lock = new DatabaseSync(path, { timeout: 0 })
  try {
    lock.exec(statements[mode])
    return disposable(() => {
      if (lock.isOpen) lock.close()
    })
  } catch (error) {
    lock.close()
    if (isBusy(error)) return undefined
    throw error
  }
}
