/** Bytes that came to be stored, as a file on the disk until they are. */
export type ReceivedFile = {
  /** Absolute. */
  path: string
  /** Hexadecimal. */
  sha256: string
  /** Bytes. */
  size: number
}

/** Which bytes are meant: from the first to the last, both counted from 0 and included. */
export type ByteRange = { first: number; last: number }
