import { createHash, randomUUID } from 'node:crypto'
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { ReceivedFile } from '../../system/received-file.ts'

/** Thrown if more bytes arrive than are allowed. */
export class TooManyBytes extends Error {
  constructor(maxBytes: number) {
    super(`There are more than ${maxBytes} bytes.`)
  }
}

/**
 * Writes bytes to a new file in a folder as they arrive, and flushes it. Removes the file on failure.
 * @throws {TooManyBytes}; errors of reading the bytes
 */
export async function receiveFile(
  bytes: AsyncIterable<Uint8Array>,
  directory: string,
  { maxBytes }: { maxBytes: number },
): Promise<ReceivedFile> {
  const path = join(directory, randomUUID())
  const hash = createHash('sha256')
  let size = 0
  const file = await open(path, 'wx', 0o600)
  try {
    for await (const chunk of bytes) {
      size += chunk.length
      if (size > maxBytes) throw new TooManyBytes(maxBytes)
      hash.update(chunk)
      await file.writeFile(chunk) // Appends at the current position.
    }
    await file.sync()
  } catch (error) {
    await file.close()
    await rm(path, { force: true })
    throw error
  }
  await file.close()
  return { path, sha256: hash.digest('hex'), size }
}
