import { promisify } from 'node:util'
import { constants, inflate, inflateSync, type ZlibOptions } from 'node:zlib'
import { hasCode } from '../../system/error-code.ts'
import { GitError } from '../git-error.ts'

/** Maximum bytes that are read and inflated on the calling thread: another would take longer than the work itself. */
export const atOnce = 64 * 1024

const inflateInThread: (data: Buffer, options: ZlibOptions) => Promise<unknown> = promisify(inflate)

/** Inflated bytes, and the number of compressed bytes consumed. */
type Inflated = { inflated: Buffer; length: number }

/**
 * Inflates data that zlib has compressed to exactly `size` bytes. `data` may have further bytes.
 * @returns undefined if `data` ends too early
 * @throws {GitError} `corrupt-object`
 */
export async function inflateExactly(data: Buffer, size: number): Promise<Inflated | undefined> {
  try {
    const options = { maxOutputLength: Math.max(size, 1), info: true }
    const { buffer, engine } = measured(
      size <= atOnce ? inflateSync(data, options) : await inflateInThread(data, options),
    )
    if (buffer.length === size) return { inflated: buffer, length: engine.bytesWritten }
  } catch (cause) {
    if (hasCode(cause, 'Z_BUF_ERROR')) return undefined
    throw new GitError('corrupt-object', 'an object cannot be inflated', { cause })
  }
  throw new GitError('corrupt-object', 'an object is not as long as it says')
}

/**
 * Inflates an object of `size` bytes whose compressed length is unknown.
 * @param read returns the given number of bytes, and fewer only at the end
 * @throws {GitError} `corrupt-object`
 */
export async function inflateFrom(read: (length: number) => Promise<Buffer>, size: number): Promise<Inflated> {
  // Upper bound of zlib's output for this size, unless its blocks are too small.
  for (let length = size + (size >> 8) + 64; ; length *= 4) {
    const data = await read(length)
    const found = await inflateExactly(data, size)
    if (found !== undefined) return found
    if (data.length < length) throw new GitError('corrupt-object', 'a pack is cut short')
  }
}

/** Casts a result of zlib: with the option `info` it has more fields than in its types. */
function measured(result: unknown): { buffer: Buffer; engine: { bytesWritten: number } } {
  return result as { buffer: Buffer; engine: { bytesWritten: number } }
}

/** Inflates the beginning of a compressed text. @throws {GitError} `corrupt-object` */
export function inflateBeginning(data: Buffer): Buffer {
  try {
    return inflateSync(data, { finishFlush: constants.Z_SYNC_FLUSH })
  } catch (cause) {
    throw new GitError('corrupt-object', 'an object cannot be inflated', { cause })
  }
}
