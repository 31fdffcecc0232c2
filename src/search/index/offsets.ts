import { ByteReader, ByteWriter } from '../bytes/byte-writer.ts'

/**
 * Packs where tokens start and end: for each the distance from the start of the one before it, and its length. Most take two bytes
 * in place of eight.
 */
export class OffsetWriter {
  readonly #writer = new ByteWriter()
  #last = 0

  add(start: number, end: number): void {
    this.#writer.varint((start - this.#last) >>> 0)
    this.#writer.varint(end - start)
    this.#last = start
  }

  get written(): Uint8Array {
    return this.#writer.written
  }
}

/** Returns start and end of each token that an {@link OffsetWriter} packed. */
export function unpackOffsets(bytes: Uint8Array): Uint32Array {
  const reader = new ByteReader(bytes)
  // Every number takes a byte at least.
  const offsets = new Uint32Array(bytes.length)
  let count = 0
  for (let start = 0; reader.at < bytes.length; ) {
    start = (start + reader.varint()) >>> 0
    offsets[count++] = start
    offsets[count++] = start + reader.varint()
  }
  return offsets.subarray(0, count)
}
