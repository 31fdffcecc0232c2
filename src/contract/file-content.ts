import type { Readable } from 'node:stream'

/** File for a response. `read` throws `rate_limited` or `unavailable` if too many others are being read. */
export type FileContent = {
  filename: string
  /** Size in bytes. */
  size: number
  /** Identifies the bytes. */
  etag: string
  /** Media type. */
  type: string
  read: (range?: { first: number; last: number }) => Promise<Readable>
}
