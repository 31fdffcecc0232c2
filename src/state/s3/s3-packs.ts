import type { Readable } from 'node:stream'
import { S3Bucket } from './s3-bucket.ts'

export class PackNotFound extends Error {
  constructor(key: string) {
    super(`There is no pack ${key}.`)
  }
}

/**
 * Packs of git that several machines share, by keys of the writers' choice. A pack never changes, and no key is used twice: a deleted
 * pack never comes back, so it is deleted without a lock. A pack that was put survives the loss of any machine.
 */
export class S3Packs extends S3Bucket {
  /** @param size in bytes, which says how long to wait. @throws {PackNotFound} */
  override async get(key: string, size: number): Promise<Readable> {
    const bytes = await super.get(key, size)
    if (bytes === undefined) throw new PackNotFound(key)
    return bytes
  }
}

export type PackStore = Pick<S3Packs, 'put' | 'get' | 'has' | 'delete' | 'list'>
