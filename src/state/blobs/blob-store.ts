import type { Readable } from 'node:stream'
import type { Transaction } from 'kysely'
import type { ReceivedFile, ReceivedRange } from '../../system/received-file.ts'
import type { Schema } from '../database/schema.ts'

export class BlobNotFound extends Error {
  constructor(sha256: string) {
    super(`There is no blob ${sha256}.`)
  }
}

/** Records the key of a blob in the transaction that refers to the blob. Throws if the blob was stored too long ago to be referred to. */
export type NoteBlob = (transaction: Transaction<Schema>) => Promise<void>

/** Milliseconds for which an unreferenced blob is kept. */
export const keptUnnamed = 24 * 60 * 60_000

/** Store of bytes by their SHA-256. Stored bytes survive a power cut. */
export interface BlobStore {
  /**
   * Stores a file's bytes, then runs `work` that refers to them. Until it has ended, no sweep removes the bytes. The caller removes the
   * file, which may be gone already.
   */
  keep<Result>(file: ReceivedFile, name: (note: NoteBlob) => Promise<Result>): Promise<Result>
  get(sha256: string, range?: ReceivedRange): Promise<Readable>
  has(sha256: string): Promise<boolean>
  /** Calls `work` with a file of the bytes, which may be read only while it runs. @throws {BlobNotFound} */
  withFile<Result>(sha256: string, work: (path: string) => Promise<Result>): Promise<Result>
  /** Removes all copies of a blob, referenced or not. Does nothing if there is none. */
  remove(sha256: string): Promise<void>
  /** Removes unreferenced blobs that were stored a day ago or longer. @returns their number */
  sweep(isNamed: (sha256: string) => Promise<boolean>, now: Date): Promise<number>
}
