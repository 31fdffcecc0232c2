import type { Readable } from 'node:stream'
import type { Transaction } from 'kysely'
import type { ReceivedFile, ReceivedRange } from '../../system/received-file.ts'
import type { Schema } from '../database/schema.ts'

export class BlobNotFound extends Error {
  constructor(sha256: string) {
    super(`There is no blob ${sha256}.`)
  }
}

/**
 * Notes the place of a blob in the transaction that refers to it. Throws if the blob was stored too long ago to be referred to.
 */
export type NoteBlob = (transaction: Transaction<Schema>) => Promise<void>

/** Milliseconds for which an unreferenced blob is kept. */
export const keptUnnamed = 24 * 60 * 60_000

/** Bytes by their SHA-256. What was kept survives a power cut. */
export interface BlobStore {
  /**
   * Stores a file's bytes, and runs what names them: until that is over, no sweep removes them. The file is the caller's to remove, and
   * may be gone already.
   */
  keep<Result>(file: ReceivedFile, name: (note: NoteBlob) => Promise<Result>): Promise<Result>
  get(sha256: string, range?: ReceivedRange): Promise<Readable>
  has(sha256: string): Promise<boolean>
  /** Gives work a file with the bytes, to be read only while it is at work. @throws {BlobNotFound} */
  withFile<Result>(sha256: string, work: (path: string) => Promise<Result>): Promise<Result>
  /** Removes all copies of a blob, named or not. Nothing happens where there is none. */
  remove(sha256: string): Promise<void>
  /** Removes blobs that nothing names and that were stored a day ago or longer. @returns how many */
  sweep(isNamed: (sha256: string) => Promise<boolean>, now: Date): Promise<number>
}
