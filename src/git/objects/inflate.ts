import { promisify } from 'node:util'
import { constants, inflate, inflateSync } from 'node:zlib'
import { GitError } from '../git-error.ts'

/** Bytes up to which something is read and inflated at once: a thread would take longer than the work itself. */
export const atOnce = 64 * 1024

const inflateInThread = promisify<Buffer, { maxOutputLength: number }, Buffer>(inflate)

/**
 * Inflates what zlib has compressed to exactly `size` bytes. What follows it in `data` does not matter.
 * @returns undefined where `data` ends too early.
 * @throws {GitError} `corrupt-object`
 */
export async function inflateExactly(data: Buffer, size: number): Promise<Buffer | undefined> {
  try {
    const options = { maxOutputLength: Math.max(size, 1) }
    const inflated = size <= atOnce ? inflateSync(data, options) : await inflateInThread(data, options)
    if (inflated.length === size) return inflated
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'Z_BUF_ERROR') return undefined
    throw new GitError('corrupt-object', 'an object cannot be inflated', { cause })
  }
  throw new GitError('corrupt-object', 'an object is not as long as it says')
}

/**
 * Inflates the `size` bytes at the start of `data`, and says how many bytes of it they took.
 * @returns undefined where `data` ends too early.
 * @throws {GitError} `corrupt-object`
 */
export function inflateMeasured(data: Buffer, size: number): { inflated: Buffer; length: number } | undefined {
  try {
    const { buffer, engine } = measured(inflateSync(data, { maxOutputLength: Math.max(size, 1), info: true }))
    if (buffer.length === size) return { inflated: buffer, length: engine.bytesWritten }
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'Z_BUF_ERROR') return undefined
    throw new GitError('corrupt-object', 'an object cannot be inflated', { cause })
  }
  throw new GitError('corrupt-object', 'an object is not as long as it says')
}

type Measured = { buffer: Buffer; engine: { bytesWritten: number } }

/** With `info`, zlib gives more than its types say. */
function measured(result: unknown): Measured {
  return result as Measured
}

/** What the beginning of a compressed text inflates to. @throws {GitError} `corrupt-object` */
export function inflateBeginning(data: Buffer): Buffer {
  try {
    return inflateSync(data, { finishFlush: constants.Z_SYNC_FLUSH })
  } catch (cause) {
    throw new GitError('corrupt-object', 'an object cannot be inflated', { cause })
  }
}
