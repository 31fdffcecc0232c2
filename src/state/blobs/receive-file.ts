import { createHash, randomUUID } from 'node:crypto'
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { ReceivedFile } from '../../system/received-file.ts'

/** More bytes came than are allowed. */
export class TooManyBytes extends Error {
  constructor(maxBytes: number) {
    super(`There are more than ${maxBytes} bytes.`)
  }
}

/**
 * Writes bytes to a new file in a folder as they arrive, and waits until they are on the disk. Removes the file on failure.
 * @throws {TooManyBytes}, and errors of the bytes
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
      await file.writeFile(chunk) // goes on where the last one ended
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
