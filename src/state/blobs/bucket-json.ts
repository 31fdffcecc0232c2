import { text } from 'node:stream/consumers'
import { S3Bucket, type S3Options } from '../s3/s3-bucket.ts'
import type { KeptJson } from './kept-json.ts'

/** Of a value, which says how long to wait. */
const maxBytes = 64 * 1024 ** 2

/** Values as objects of a bucket that several nodes share. Two nodes that keep the same value at once both put it. */
export class BucketJson implements KeptJson {
  readonly #bucket: S3Bucket

  constructor(options: S3Options) {
    this.#bucket = new S3Bucket(options)
  }

  /** @throws {S3Error} */
  async find(name: string): Promise<unknown> {
    const bytes = await this.#bucket.get(name, maxBytes)
    if (bytes === undefined) return undefined
    const json = await text(bytes)
    try {
      return JSON.parse(json)
    } catch {
      return undefined
    }
  }

  /** @throws {S3Error} */
  has(name: string): Promise<boolean> {
    return this.#bucket.has(name)
  }

  /** @throws {S3Error} */
  remove(name: string): Promise<void> {
    return this.#bucket.delete(name)
  }

  /** @throws {S3Error} */
  async keep(name: string, value: unknown): Promise<void> {
    await this.#bucket.putBytes(name, Buffer.from(JSON.stringify(value)))
  }
}
