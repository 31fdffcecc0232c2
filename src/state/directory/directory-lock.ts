import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { isBusy } from '../database/engines/sqlite.ts'
import type { DataDirectory } from './data-directory.ts'

/** Another process holds the data directory's lock. */
export class DataDirectoryInUse extends Error {
  constructor(directory: string) {
    super(
      `The data directory ${directory} is in use by another Ganglion process. Stop it, or choose another directory.`,
    )
  }
}

/** Milliseconds between two attempts. */
const RETRY_INTERVAL = 25

/**
 * Locks the data directory for this process, and waits at most `waitMs` milliseconds for another to release it. Returns how to
 * release it. Throws {@link DataDirectoryInUse}.
 */
export async function acquireLock(directory: DataDirectory, { waitMs }: { waitMs: number }): Promise<() => void> {
  const release = await lockFile(directory.lock, { waitMs })
  if (release === undefined) throw new DataDirectoryInUse(directory.root)
  return release
}

/** Locks the data directory like {@link acquireLock}, while no command runs beside a server either. */
export async function acquireWhole(directory: DataDirectory): Promise<() => void> {
  const release = await acquireLock(directory, { waitMs: 0 })
  const releaseUsers = tryLock(directory.users, 'EXCLUSIVE')
  if (releaseUsers !== undefined)
    return () => {
      releaseUsers()
      release()
    }
  release()
  throw new DataDirectoryInUse(directory.root)
}

/** Says that this process uses the data directory, as others may. Returns how to end that. Throws {@link DataDirectoryInUse}. */
export function shareDirectory(directory: DataDirectory): () => void {
  const release = tryLock(directory.users, 'SHARED')
  if (release === undefined) throw new DataDirectoryInUse(directory.root)
  return release
}

/**
 * Locks a file, and waits at most `waitMs` milliseconds for the one who has it. Returns how to release it; undefined if it is still
 * locked. SQLite holds the lock in the operating system: unlike a pid file, it is released as soon as its process ends.
 */
export async function lockFile(path: string, { waitMs }: { waitMs: number }): Promise<(() => void) | undefined> {
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

function tryLock(path: string, mode: keyof typeof statements): (() => void) | undefined {
  const lock = new DatabaseSync(path, { timeout: 0 })
  try {
    lock.exec(statements[mode])
    return () => {
      if (lock.isOpen) lock.close()
    }
  } catch (error) {
    lock.close()
    if (isBusy(error)) return undefined
    throw error
  }
}
