import type { Readable } from 'node:stream'
import type { ReceivedFile } from '../../system/received-file.ts'

export type StoredPack = { key: string; storedAt: Date }

export class PackNotFound extends Error {
  constructor(key: string) {
    super(`There is no pack ${key}.`)
  }
}

/**
 * Packs of git that several machines share, by keys of the writers' choice. A pack never changes, and no key is used twice: what was
 * deleted never comes back, so that it can be deleted without a lock.
 */
export interface PackStore {
  /** The pack survives the loss of any machine when this resolves. The file stays the caller's. */
  put(key: string, file: ReceivedFile): Promise<void>
  /** @param size in bytes, which says how long to wait. @throws {PackNotFound} */
  get(key: string, size: number): Promise<Readable>
  has(key: string): Promise<boolean>
  /** Deletes a pack. Has no effect if there is none. */
  delete(key: string): Promise<void>
  /** Lists the packs in no order. */
  list(): AsyncIterable<StoredPack>
}
