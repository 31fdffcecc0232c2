import { deflateSync } from 'node:zlib'

/** Pieces of bytes, one behind the other. */
export type Joined = { bytes: Uint8Array; sizes: number[] }

/** Maximum bytes of an object that is stored uncompressed: setting up zlib takes longer than everything else. */
const smallest = 400

/** Runs in a worker thread if there is much to compress. */
export default function deflateJoined(pieces: Joined): Joined {
  return join(split(pieces).map(deflateObject))
}

/** An object as a pack holds it: a zlib stream. */
export function deflateObject(plain: Buffer): Buffer {
  return plain.length <= smallest ? storeUncompressed(plain) : deflateSync(plain, { level: 1, chunkSize: 1024 })
}

export function join(pieces: readonly Buffer[]): Joined {
  return { bytes: Buffer.concat(pieces), sizes: pieces.map(({ length }) => length) }
}

/** Compresses pieces from another thread, where a Buffer arrives as a bare Uint8Array. */
export function split({ bytes, sizes }: Joined): Buffer[] {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  let end = 0
  return sizes.map((size) => {
    end += size
    return all.subarray(end - size, end)
  })
}

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
