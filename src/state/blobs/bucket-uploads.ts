import { randomBytes, randomUUID } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import type { ReceivedFile } from '../../system/received-file.ts'
import { startClock } from '../directory/start-clock.ts'
import { S3Bucket, type S3Options } from '../s3/s3-bucket.ts'
import { sweepUnnamed } from '../s3/sweep-unnamed.ts'
import { endOf, type UploadChunk, type UploadChunks } from '../sources/upload-chunks.ts'
import type { Upload } from '../sources/upload-store.ts'
import { appendToFile } from './folder-uploads.ts'
import { receiveFile } from './receive-file.ts'
import { type Appended, ChunkDiffers, type ReceivedChunk, type UploadBytes, UploadChanged } from './upload-bytes.ts'

const hour = 60 * 60_000
/** Milliseconds after which a new reference to a stored object is refused, and after which an unreferenced one is removed. */
const nameWithin = hour
const keptUnnamed = 24 * hour
/** Maximum bytes of a last chunk that is stored again together with the next one, to bound the number of objects. */
const smallChunk = 2 ** 20
/** Maximum attempts to add a chunk while other processes are faster. */
const maxAttempts = 20

/**
 * Uploads in a bucket that several nodes share: each chunk is an object under a unique key, and its row has its offset in the upload. A
 * node keeps a chunk on its disk only until it is in the bucket.
 */
export class BucketUploads implements UploadBytes {
  readonly #bucket: S3Bucket
  readonly #chunks: UploadChunks
  readonly #scratch: string
  readonly #now: () => Date

  /** Opens the uploads. @param scratch folder for received bytes */
  constructor(options: S3Options, chunks: UploadChunks, { scratch, now }: { scratch: string; now: () => Date }) {
    this.#bucket = new S3Bucket(options)
    this.#chunks = chunks
    this.#scratch = scratch
    this.#now = now
  }

  /** Returns the bytes present. Ignores the number in the row, which may come from one machine with chunks in a folder. */
  async size({ id }: Pick<Upload, 'id'>): Promise<number> {
    return endOf((await this.#chunks.of(id)).at(-1))
  }

  async append(id: string, { start, bytes }: ReceivedChunk, admit: () => Promise<number>): Promise<Appended> {
    await admit()
    const file = join(this.#scratch, randomUUID())
    try {
      const { failure } = await appendToFile(file, { received: 0, start: 0, bytes })
      const came = await readFile(file)
      for (let attempt = 1; attempt <= maxAttempts; attempt++) {
        await admit()
        const appended = await this.#add(id, start, came)
        if (appended !== undefined) return { received: appended.received, failure: appended.failure ?? failure }
      }
      throw new UploadChanged(id)
    } finally {
      await rm(file, { force: true })
    }
  }

  async withFile<Result>(id: string, size: number, work: (file: ReceivedFile) => Promise<Result>): Promise<Result> {
    const file = await receiveFile(this.#read(id, await this.#chunks.of(id)), this.#scratch, { maxBytes: size })
    try {
      if (file.size !== size) throw new UploadChanged(id)
      return await work(file)
    } finally {
      await rm(file.path, { force: true })
    }
  }

  async remove(id: string): Promise<void> {
    await this.#delete(await this.#chunks.take(id))
  }

  async sweep(): Promise<void> {
    const now = this.#now()
    await this.#delete(await this.#chunks.takeUnwanted(now))
    await sweepUnnamed(this.#bucket, new Date(now.getTime() - keptUnnamed), (keys) => this.#chunks.named(keys))
  }

  /** Adds bytes as a chunk. @returns undefined if the upload has changed meanwhile */
  async #add(id: string, start: number, came: Buffer): Promise<Appended | undefined> {
    try {
      const chunks = await this.#chunks.of(id)
      const last = chunks.at(-1)
      const received = endOf(last)
      if (received < start) return undefined
      const repeated = came.subarray(0, received - start)
      const end = start + repeated.length
      if (!repeated.equals(await buffer(this.#read(id, chunks, { start, end })))) {
        return { received, failure: new ChunkDiffers() }
      }
      if (repeated.length === came.length) return { received, failure: undefined }
      const replaced = last !== undefined && last.size < smallChunk ? last : undefined
      const before = replaced === undefined ? [] : [await buffer(this.#read(id, [replaced]))]
      const body = Buffer.concat([...before, came.subarray(repeated.length)])
      const isAdded = await this.#put(id, body, { at: replaced?.start ?? received, replaced })
      return isAdded ? { received: start + came.length, failure: undefined } : undefined
    } catch (error) {
      if (error instanceof UploadChanged) return undefined
      throw error
    }
  }

  async #put(
    id: string,
    body: Buffer,
    { at, replaced }: { at: number; replaced: UploadChunk | undefined },
  ): Promise<boolean> {
    const sincePut = startClock()
    const key = `${id}/${at}-${randomBytes(4).toString('hex')}`
    await this.#bucket.putBytes(key, body)
    const check = () => {
      if (sincePut() > nameWithin) throw new Error('A chunk was put too long ago to be named.')
    }
    const chunk = { start: at, size: body.length, key }
    const isAdded = await this.#chunks.add(id, chunk, { replaced, check, now: this.#now() })
    // If the commit's response was lost, both objects stay, since one of them is referenced.
    if (!isAdded) await this.#delete([key])
    else if (replaced !== undefined) await this.#delete([replaced.key])
    return isAdded
  }

  /** Yields the bytes of chunks from `start` up to `end`. @throws {UploadChanged} */
  async *#read(
    id: string,
    chunks: readonly UploadChunk[],
    { start = 0, end = Number.POSITIVE_INFINITY }: { start?: number; end?: number } = {},
  ): AsyncGenerator<Uint8Array> {
    for (const chunk of chunks) {
      const first = Math.max(start - chunk.start, 0)
      const last = Math.min(end - chunk.start, chunk.size) - 1
      if (first > last) continue
      const bytes = await this.#bucket.get(chunk.key, chunk.size, { first, last })
      if (bytes === undefined) throw new UploadChanged(id)
      yield* bytes
    }
  }

  /** Deletes objects. The sweep removes those that cannot be deleted now. */
  async #delete(keys: readonly string[]): Promise<void> {
    for (const key of keys) await this.#bucket.delete(key).catch(() => {})
  }
}
