import type { Readable } from 'node:stream'

/** Bytes that came to be stored, as a file on the disk until they are. */
export type ReceivedFile = {
  /** Absolute. */
  path: string
  /** Hexadecimal. */
  sha256: string
  /** Bytes. */
  size: number
}

export type StoredBlob = { sha256: string; storedAt: Date }

/** Which bytes are meant: from the first to the last, both counted from 0 and included. */
export type ByteRange = { first: number; last: number }

/** The store has no such blob. */
export class BlobNotFound extends Error {
  constructor(sha256: string) {
    super(`There is no blob ${sha256}.`)
    this.name = 'BlobNotFound'
  }
}

/**
 * Bytes by their SHA-256. What was put survives a power cut. To put what is there already changes nothing but the time at which it
 * was stored.
 */
export interface BlobStore {
  /** Stores a file's bytes. The file is the caller's to remove, and may be gone already. */
  put(file: ReceivedFile): Promise<void>
  /** @throws {BlobNotFound} */
  get(sha256: string, range?: ByteRange): Promise<Readable>
  has(sha256: string): Promise<boolean>
  /** Nothing happens where there is none. */
  delete(sha256: string): Promise<void>
  /** In no order. */
  list(): AsyncIterable<StoredBlob>
  /** Gives work a file with the bytes, to be read only while it is at work. @throws {BlobNotFound} */
  withFile<Result>(sha256: string, work: (path: string) => Promise<Result>): Promise<Result>
}
