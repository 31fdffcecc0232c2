/** Received bytes, in a temporary file until they are stored. */
export type ReceivedFile = {
  /** Absolute path of the file. */
  path: string
  /** SHA-256 in hexadecimal digits. */
  sha256: string
  /** Size in bytes. */
  size: number
}

/** Range of bytes from 0, both ends inclusive. */
export type ReceivedRange = { first: number; last: number }
