import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'

/** Received bytes, in a temporary file until they are stored. */
export type ReceivedFile = {
  /** Absolute path of the file. */
  path: string
  /** SHA-256 in hexadecimal digits. */
  sha256: string
  /** Size in bytes. */
  size: number
}

/** Range of bytes from 0, both ends inclusive. */
export type ReceivedRange = { first: number; last: number }

/** Returns the SHA-256 of a file's bytes, in hexadecimal digits. */
export async function sha256OfFile(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}
