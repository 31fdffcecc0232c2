import { deflateSync } from 'node:zlib'
import { storeUncompressed } from './stored-zlib.ts'

/** Pieces of bytes, one behind the other. */
export type Joined = { bytes: Uint8Array; sizes: number[] }

/** Bytes up to which an object is not compressed: setting up zlib takes longer than all else that is done for it. */
const smallest = 400

/** Runs in a worker thread where there is much to compress. */
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

/** Takes pieces that came from another thread, as which a Buffer is a bare Uint8Array. */
export function split({ bytes, sizes }: Joined): Buffer[] {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  let end = 0
  return sizes.map((size) => {
    end += size
    return all.subarray(end - size, end)
  })
}
