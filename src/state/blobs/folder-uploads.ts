import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, open, readdir, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { KeyedLock } from '../../system/concurrency/keyed-lock.ts'
import { syncDirectory } from '../../system/durable-file.ts'
import type { ReceivedFile } from '../../system/received-file.ts'
import type { Upload, Uploads } from '../sources/upload-store.ts'
import { type Appended, ChunkDiffers, type ReceivedChunk, type UploadBytes } from './upload-bytes.ts'

/** Rows of uploads. `locks`: by the id of an upload, held for each use except reading its size. */
type Rows = { uploads: Uploads; locks: KeyedLock; now: () => Date }

/** Uploads in a folder that only this process uses: each is a file that grows. */
export class FolderUploads implements UploadBytes {
  readonly #directory: string
  readonly #rows: Rows

  constructor(directory: string, rows: Rows) {
    this.#directory = directory
    this.#rows = rows
  }

  /** Returns the size of the file, at most the bytes that are known to be durable. After a restore, there are rows without files. */
  async size({ id, bytesReceived }: Pick<Upload, 'id' | 'bytesReceived'>): Promise<number> {
    const found = await stat(this.#path(id)).catch(() => undefined)
    return Math.min(found?.size ?? 0, bytesReceived)
  }

  async append(id: string, chunk: ReceivedChunk, admit: () => Promise<number>): Promise<Appended> {
    const appended = await appendToFile(this.#path(id), { received: await admit(), ...chunk })
    const { uploads, now } = this.#rows
    await uploads.setBytesReceived(id, appended.received, now())
    return appended
  }

  /** Calls `work` with the file, which stays if the work fails. */
  async withFile<Result>(id: string, size: number, work: (file: ReceivedFile) => Promise<Result>): Promise<Result> {
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
    return work({ path, sha256: hash.digest('hex'), size })
  }

  async remove(id: string): Promise<void> {
    await rm(this.#path(id), { force: true })
  }

  async sweep(): Promise<void> {
    const { uploads, locks, now } = this.#rows
    for (const id of await readdir(this.#directory)) {
      await locks.run(id, async () => {
        if (!(await uploads.isOpen(id, now()))) await this.remove(id)
      })
    }
  }

  #path(id: string): string {
    return join(this.#directory, id)
  }
}

/**
 * Writes a chunk's bytes to a file as they arrive, and flushes them, even if the chunk breaks off. Bytes after `received` were never
 * acknowledged, and are overwritten.
 */
export async function appendToFile(
  path: string,
  { received, start, bytes }: ReceivedChunk & { received: number },
): Promise<Appended> {
  await using file = await open(path, 'r+').catch(() => open(path, 'wx+', 0o600))
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
  await syncDirectory(dirname(path))
  return { received: Math.max(received, position), failure }
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
