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

/** What a caller is told of an error of the layers below: whose fault it is and whether it is worth trying again, no more. */
export function failureCode(error: unknown): ErrorCode {
  if (isStorageFull(error)) return 'insufficient_storage'
  if (error instanceof S3Error) return 'unavailable'
  if (!(error instanceof GitError)) return 'internal'
  if (error.code === 'bad-request') return 'malformed_request'
  return error.code === 'busy' || error.code === 'lock-held' ? 'unavailable' : 'internal'
}
