import { ByteReader, ByteWriter } from '../segments/byte-writer.ts'

/**
 * Packs where tokens start and end: for each the distance from the start of the one before it, and its length. Most take two bytes
 * in place of eight.
 */
export function packOffsets(offsets: Uint32Array): Uint8Array {
  const writer = new ByteWriter()
  for (let at = 0; at < offsets.length; at += 2) {
    const start = offsets[at] ?? 0
    writer.varint((start - (offsets[at - 2] ?? 0)) >>> 0)
    writer.varint((offsets[at + 1] ?? 0) - start)
  }
  return writer.written
}

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
