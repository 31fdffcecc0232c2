import { type ErrorCode, GanglionError } from '../contract/errors.ts'
import { GitError } from '../git/git-error.ts'
import { DatabaseUnreachable } from '../state/database/database-errors.ts'
import { isBusyState, stateOf } from '../state/database/postgres-errors.ts'
import { S3Error } from '../state/s3/s3-bucket.ts'
import { PackNotFound } from '../state/s3/s3-packs.ts'
import { type FairSlots, type SlotClaim, SlotError } from '../system/concurrency/fair-slots.ts'
import { RefMissing, RepositoryMissing } from './refs/kb-refs.ts'

const sqliteFull = 13
const postgresFull = '53100'
/** SQLITE_READONLY, SQLITE_IOERR, SQLITE_CANTOPEN. */
const sqliteUnwritable: ReadonlySet<number> = new Set([8, 10, 14])
const unwritable: ReadonlySet<unknown> = new Set(['EROFS', 'EACCES', 'EPERM', 'EIO'])
/** Messages of git about a failed write, in the locale that the server sets. */
const gitUnwritable = /Read-only file system|Permission denied|Input\/output error/

/** True if a write failed for lack of space, in a file or in SQLite. */
export function isStorageFull(error: unknown): boolean {
  return isCausedBy(
    error,
    (cause) =>
      sqliteCode(cause) === sqliteFull ||
      stateOf(cause) === postgresFull ||
      codeOf(cause) === 'ENOSPC' ||
      codeOf(cause) === 'EDQUOT',
  )
}

/** True if a file cannot be written or created: the disk is full or broken, or read-only. */
export function isUnstorable(error: unknown): boolean {
  return isStorageFull(error) || isCausedBy(error, isUnwritable)
}

/**
 * Converts a failure of a lower layer to the error for the caller, which tells whose fault it is, whether to retry, and which part
 * of the server is broken. Contains no paths.
 */
export function refusalFor(error: unknown): GanglionError {
  if (isStorageFull(error)) return new GanglionError('insufficient_storage')
  if (isCausedBy(error, (cause) => cause instanceof GitError && cause.code === 'no-git'))
    return new GanglionError('unavailable', 'git cannot be started on the server.')
  if (isCausedBy(error, isRepositoryGone))
    return new GanglionError('unavailable', 'The repository of the knowledge base is damaged, or is not there.')
  if (isCausedBy(error, (cause) => cause instanceof DatabaseUnreachable))
    return new GanglionError('unavailable', 'The database of the server cannot be reached.')
  if (isCausedBy(error, (cause) => cause instanceof GitError && cause.code === 'unknown-outcome'))
    return new GanglionError('unavailable', 'It is not known whether the change was made. Look before you try again.')
  if (isCausedBy(error, (cause) => isBusyState(stateOf(cause)))) return new GanglionError('unavailable')
  if (isCausedBy(error, isUnwritable))
    return new GanglionError('unavailable', 'The data of the server cannot be written.')
  return new GanglionError(codeFor(error))
}

/** True if a failure may be temporary or concern only one knowledge base, so that lists of several continue without it. */
export function isUnavailable(error: unknown): boolean {
  return (error instanceof GanglionError ? error : refusalFor(error)).status === 503
}

/** Returns undefined if something is unavailable, and rethrows any other error. A handler for `catch`. */
export function unlessUnavailable(error: unknown): undefined {
  if (!isUnavailable(error)) throw error
}

/** True if a failure passes by itself, so that a caller that must leave nothing out should wait. */
export function isPassing(error: unknown): boolean {
  return isUnavailable(error) && !isCausedBy(error, isRepositoryGone)
}

function isRepositoryGone(error: Error): boolean {
  if (error instanceof GitError) return error.code === 'bad-ref'
  return error instanceof RefMissing || error instanceof RepositoryMissing || error instanceof PackNotFound
}

function codeFor(error: unknown): ErrorCode {
  if (error instanceof S3Error) return 'unavailable'
  if (!(error instanceof GitError)) return 'internal'
  if (error.code === 'bad-request') return 'malformed_request'
  return error.code === 'busy' || error.code === 'lock-held' ? 'unavailable' : 'internal'
}

function isUnwritable(error: Error): boolean {
  if (error instanceof GitError) return error.code === 'git-failed' && gitUnwritable.test(error.message)
  return unwritable.has(codeOf(error)) || sqliteUnwritable.has(sqliteCode(error))
}

function isCausedBy(error: unknown, isIt: (cause: Error) => boolean): boolean {
  return error instanceof Error && (isIt(error) || isCausedBy(error.cause, isIt))
}

function codeOf(error: Error): unknown {
  return 'code' in error ? error.code : undefined
}

function sqliteCode(error: Error): number {
  return 'errcode' in error ? Number(error.errcode) & 0xff : 0
}

/**
 * Waits for a slot; see {@link FairSlots.take}.
 * @throws {GanglionError} `rate_limited` or `unavailable` while too many others wait
 */
export async function takeSlot(slots: FairSlots, claim: SlotClaim, signal: AbortSignal): Promise<() => void> {
  try {
    return await slots.take(claim, signal)
  } catch (error) {
    if (!(error instanceof SlotError)) throw error
    if (error.reason !== 'queue-full') throw new GanglionError('unavailable')
    throw new GanglionError('rate_limited', 'Too many git requests are waiting; try again later.')
  }
}
