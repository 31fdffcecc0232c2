import type { ErrorCode } from '../contract/errors.ts'
import { GitError } from '../git/git-error.ts'
import { S3Error } from '../store/blobs/s3-blobs.ts'

const sqliteFull = 13

/** Whether a write failed for want of space, in a file or in SQLite. */
export function isStorageFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if ('errcode' in error && (Number(error.errcode) & 0xff) === sqliteFull) return true
  return ('code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT')) || isStorageFull(error.cause)
}

/** What a caller is told of an error of the layers below: whether it is worth trying again, and nothing else. */
export function failureCode(error: unknown): ErrorCode {
  if (isStorageFull(error)) return 'insufficient_storage'
  if (error instanceof S3Error) return 'unavailable'
  const isBusy = error instanceof GitError && (error.code === 'busy' || error.code === 'lock-held')
  return isBusy ? 'unavailable' : 'internal'
}
