import { deflateSync } from 'node:zlib'

/** Concatenated pieces of bytes, with their sizes. */
export type Joined = { bytes: Uint8Array; sizes: number[] }

/** Maximum bytes of an object that is stored uncompressed: setting up zlib would take longer than everything else. */
const smallest = 400

/** Compresses pieces. Runs in a worker thread. */
export default function deflateJoined(pieces: Joined): Joined {
  return join(split(pieces).map(deflateObject))
}

/** Returns an object as a zlib stream, as in a pack. */
export function deflateObject(plain: Buffer): Buffer {
  return plain.length <= smallest ? storeUncompressed(plain) : deflateSync(plain, { level: 1, chunkSize: 1024 })
}

export function join(pieces: readonly Buffer[]): Joined {
  return { bytes: Buffer.concat(pieces), sizes: pieces.map(({ length }) => length) }
}

/** Splits concatenated pieces. From another thread, a Buffer arrives as a plain Uint8Array. */
export function split({ bytes, sizes }: Joined): Buffer[] {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  let end = 0
  return sizes.map((size) => {
    end += size
    return all.subarray(end - size, end)
  })
}

/** Maximum length of a stored block (RFC 1951, section 3.2.4). */
export const longestStored = 0xffff

/** Returns a zlib stream (RFC 1950) with at most {@link longestStored} bytes in one uncompressed block. */
export function storeUncompressed(data: Buffer): Buffer {
  const stream = Buffer.allocUnsafe(data.length + 11)
  stream.writeUInt16BE(0x7801, 0)
  stream.writeUInt8(1, 2) // Marks the last block, uncompressed.
  stream.writeUInt16LE(data.length, 3)
  stream.writeUInt16LE(data.length ^ 0xffff, 5)
  data.copy(stream, 7)
  stream.writeUInt32BE(adler32(data), data.length + 7)
  return stream
}

/** Returns the Adler-32 checksum (RFC 1950, section 8.2). */
function adler32(data: Buffer): number {
  let low = 1
  let high = 0
  for (const byte of data) {
    low = (low + byte) % 65_521
    high = (high + low) % 65_521
  }
  return high * 0x10000 + low
}
