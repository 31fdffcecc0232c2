/** The largest length of a stored block (RFC 1951, section 3.2.4). */
export const longestStored = 0xffff

/** A zlib stream (RFC 1950) of at most {@link longestStored} bytes as they are, in one stored block. */
export function storeUncompressed(data: Buffer): Buffer {
  const stream = Buffer.allocUnsafe(data.length + 11)
  stream.writeUInt16BE(0x7801, 0)
  stream.writeUInt8(1, 2) // the last block, stored
  stream.writeUInt16LE(data.length, 3)
  stream.writeUInt16LE(data.length ^ 0xffff, 5)
  data.copy(stream, 7)
  stream.writeUInt32BE(adler32(data), data.length + 7)
  return stream
}

/** RFC 1950, section 8.2. */
function adler32(data: Buffer): number {
  let low = 1
  let high = 0
  for (const byte of data) {
    low = (low + byte) % 65_521
    high = (high + low) % 65_521
  }
  return high * 0x10000 + low
}
