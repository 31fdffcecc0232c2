import type { Readable } from 'node:stream'
import { S3Bucket } from './s3-bucket.ts'

export class PackNotFound extends Error {
  constructor(key: string) {
    super(`There is no pack ${key}.`)
  }
}

/**
 * Git packs that several machines share, by keys that writers choose. A pack never changes, and no key is reused: a deleted pack
 * never reappears, so it is deleted without a lock. A stored pack survives the loss of any machine.
 */
export class S3Packs extends S3Bucket {
  /** Returns the bytes of a pack. @param size in bytes, from which the timeout follows @throws {PackNotFound} */
  override async get(key: string, size: number): Promise<Readable> {
    const bytes = await super.get(key, size)
    if (bytes === undefined) throw new PackNotFound(key)
    return bytes
  }
}

export type PackStore = Pick<S3Packs, 'put' | 'get' | 'has' | 'delete' | 'list'>
