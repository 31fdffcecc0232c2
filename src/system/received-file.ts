/** Bytes that were received, in a temporary file until they are stored. */
export type ReceivedFile = {
  /** Absolute. */
  path: string
  /** Hexadecimal. */
  sha256: string
  /** Bytes. */
  size: number
}

/** A range of bytes, from the first to the last, counted from 0 and both included. */
export type ReceivedRange = { first: number; last: number }
