import type { Readable } from 'node:stream'

/** A file for a response. `read` throws `rate_limited` or `unavailable` while too many others are read. */
export type FileContent = {
  filename: string
  /** Bytes. */
  size: number
  /** Identifies the bytes. */
  etag: string
  /** Media type. */
  type: string
  read: (range?: { first: number; last: number }) => Promise<Readable>
}
