import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { maxChunkedBytes } from '../../contract/documents.ts'
import { S3Bucket, type S3Options } from '../s3/s3-bucket.ts'
import { BlobNotFound, type BlobStore, type ByteRange, type ReceivedFile, type StoredBlob } from './blob-store.ts'

/** Blobs in a bucket of an S3-compatible store, as `<prefix>ab/cd/<sha256>`. */
export class S3Blobs implements BlobStore {
  readonly #bucket: S3Bucket
  readonly #scratch: string

  /** @param scratch folder for copies that are read as files. */
  constructor(options: S3Options, scratch: string) {
    this.#bucket = new S3Bucket(options)
    this.#scratch = scratch
  }

  async put(file: ReceivedFile): Promise<void> {
    await this.#bucket.put(keyOf(file.sha256), file)
  }

  async get(sha256: string, range?: ByteRange): Promise<Readable> {
    const bytes = await this.#bucket.get(keyOf(sha256), maxChunkedBytes, range)
    if (bytes === undefined) throw new BlobNotFound(sha256)
    return bytes
  }

  has(sha256: string): Promise<boolean> {
    return this.#bucket.has(keyOf(sha256))
  }

  async delete(sha256: string): Promise<void> {
    await this.#bucket.delete(keyOf(sha256))
  }

  async *list(): AsyncGenerator<StoredBlob> {
    for await (const { key, storedAt } of this.#bucket.list()) {
      const sha256 = key.slice(-64)
      if (key === keyOf(sha256)) yield { sha256, storedAt }
    }
  }

  async withFile<Result>(sha256: string, work: (path: string) => Promise<Result>): Promise<Result> {
    const path = join(this.#scratch, randomUUID())
    try {
      await pipeline(await this.get(sha256), createWriteStream(path, { flags: 'wx', mode: 0o600 }))
      return await work(path)
    } finally {
      await rm(path, { force: true })
    }
  }
}

function keyOf(sha256: string): string {
  return `${sha256.slice(0, 2)}/${sha256.slice(2, 4)}/${sha256}`
}
