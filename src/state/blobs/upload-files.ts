import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, open, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { syncDirectory } from '../../system/durable-file.ts'
import type { ReceivedFile } from '../../system/received-file.ts'
import { type Appended, ChunkDiffers, type ReceivedChunk } from './upload-bytes.ts'

/** The files that uploads in chunks grow in. */
export class UploadFiles {
  readonly #directory: string

  constructor(directory: string) {
    this.#directory = directory
  }

  /** Bytes that an upload's file has, at most as many as are known to be on the disk. */
  async size(id: string, known: number): Promise<number> {
    const found = await stat(this.#path(id)).catch(() => undefined)
    return Math.min(found?.size ?? 0, known)
  }

  /**
   * Writes a chunk's bytes as they come, and waits until they are on the disk: also those that came before the chunk broke off.
   * Bytes behind `received` were never reported, and are overwritten.
   */
  async append(id: string, { received, start, bytes }: ReceivedChunk & { received: number }): Promise<Appended> {
    const path = this.#path(id)
    const file = await open(path, 'r+').catch(() => open(path, 'wx+', 0o600))
    try {
      await file.truncate(received)
      let position = start
      let failure: unknown
      try {
        for await (const chunk of bytes) {
          const repeated = chunk.subarray(0, Math.max(0, received - position))
          if (!(await holds(file, position, repeated))) throw new ChunkDiffers()
          await writeAt(file, position + repeated.length, chunk.subarray(repeated.length))
          position += chunk.length
        }
      } catch (error) {
        failure = error
      }
      await file.sync()
      await syncDirectory(this.#directory)
      return { received: Math.max(received, position), failure }
    } finally {
      await file.close()
    }
  }

  /** The whole of an upload, with its hash. */
  async finish(id: string, size: number): Promise<ReceivedFile> {
    const path = this.#path(id)
    const hash = createHash('sha256')
    if (size > 0) for await (const chunk of createReadStream(path, { end: size - 1 })) hash.update(chunk)
    const file = await open(path, 'a', 0o600)
    try {
      await file.truncate(size)
      await file.sync()
    } finally {
      await file.close()
    }
    return { path, sha256: hash.digest('hex'), size }
  }

  async remove(id: string): Promise<void> {
    await rm(this.#path(id), { force: true })
  }

  /** Ids of the uploads that have a file. */
  async list(): Promise<string[]> {
    return readdir(this.#directory)
  }

  #path(id: string): string {
    return join(this.#directory, id)
  }
}

async function holds(file: FileHandle, position: number, bytes: Uint8Array): Promise<boolean> {
  if (bytes.length === 0) return true
  const { bytesRead, buffer } = await file.read(Buffer.alloc(bytes.length), 0, bytes.length, position)
  return bytesRead === bytes.length && buffer.equals(bytes)
}

async function writeAt(file: FileHandle, position: number, bytes: Uint8Array): Promise<void> {
  for (let written = 0; written < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, written, bytes.length - written, position + written)
    written += bytesWritten
  }
}
