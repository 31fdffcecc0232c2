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

/**
 * Locks a file, and waits at most `waitMs` milliseconds for the one who has it. Returns how to release it; undefined if it is still
 * locked. SQLite holds the lock in the operating system: unlike a pid file, it is released as soon as its process ends.
 */
export async function lockFile(path: string, { waitMs }: { waitMs: number }): Promise<(() => void) | undefined> {
  const deadline = Date.now() + waitMs
  for (;;) {
    const lock = tryLock(path)
    if (lock !== undefined) return () => lock.close()
    if (Date.now() >= deadline) return undefined
    await sleep(RETRY_INTERVAL)
  }
}

export function isLocked(directory: DataDirectory): boolean {
  if (!existsSync(directory.lock)) return false
  const lock = tryLock(directory.lock)
  lock?.close()
  return lock === undefined
}

function tryLock(path: string): DatabaseSync | undefined {
  const lock = new DatabaseSync(path, { timeout: 0 })
  try {
    lock.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
    return lock
  } catch (error) {
    lock.close()
    if (isBusy(error)) return undefined
    throw error
  }
}
