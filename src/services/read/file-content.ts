import type { Readable } from 'node:stream'

/** A file to be answered with. `read` throws `rate_limited` or `unavailable` while too many others are read. */
export type FileContent = {
  filename: string
  /** Bytes. */
  size: number
  /** Names the bytes: another one for others. */
  etag: string
  /** Media type. */
  type: string
  read: (range?: { first: number; last: number }) => Promise<Readable>
}
