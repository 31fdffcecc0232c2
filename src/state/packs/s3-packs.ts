import type { Readable } from 'node:stream'
import type { ReceivedFile } from '../../system/received-file.ts'
import { S3Bucket, type S3Options } from '../s3/s3-bucket.ts'
import { PackNotFound, type PackStore, type StoredPack } from './pack-store.ts'

export class S3Packs implements PackStore {
  readonly #bucket: S3Bucket

  constructor(options: S3Options) {
    this.#bucket = new S3Bucket(options)
  }

  async put(key: string, file: ReceivedFile): Promise<void> {
    await this.#bucket.put(key, file)
  }

  async get(key: string, size: number): Promise<Readable> {
    const bytes = await this.#bucket.get(key, size)
    if (bytes === undefined) throw new PackNotFound(key)
    return bytes
  }

  has(key: string): Promise<boolean> {
    return this.#bucket.has(key)
  }

  async delete(key: string): Promise<void> {
    await this.#bucket.delete(key)
  }

  list(): AsyncIterable<StoredPack> {
    return this.#bucket.list()
  }
}
