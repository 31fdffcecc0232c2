import { crc32 } from 'node:zlib'
import { ByteReader, ByteWriter } from '../bytes/byte-writer.ts'

/** Data of a page that is in memory while an index is open. */
export type CatalogPage = {
  id: number
  key: string
  /** The id of its `PageClass`. */
  class: number
  isWhole: boolean
  firstChunk: number
  /** Length of each chunk, in terms. */
  lengths: ArrayLike<number>
}

/** Pages stored in one row, so that few rows are read when an index is opened. */
export const pagesPerBlock = 256

const sumLength = 4

/** Packs the pages of one block, by ascending id: a checksum, then for each page its numbers in base 128 and its key. */
export function packPages(pages: Iterable<CatalogPage>): Uint8Array {
  const out = new ByteWriter()
  out.bytes(new Uint8Array(sumLength))
  let lastId = 0
  let lastChunk = 0
  for (const { id, key, class: ofPages, isWhole, firstChunk, lengths } of pages) {
    const name = Buffer.from(key)
    out.varint(id - lastId)
    out.varint(ofPages)
    // Chunks get their ids in the order of the pages.
    out.varint(firstChunk - lastChunk)
    out.varint(2 * lengths.length + (isWhole ? 1 : 0))
    for (let index = 0; index < lengths.length; index++) out.varint(lengths[index] ?? 0)
    out.varint(name.length)
    out.bytes(name)
    lastId = id
    lastChunk = firstChunk
  }
  const packed = Buffer.from(out.written)
  packed.writeUInt32LE(crc32(packed.subarray(sumLength)))
  return packed
}

/** Unpacks a block. @throws if the bytes are not as {@link packPages} wrote them */
export function* unpackPages(bytes: Uint8Array): Generator<CatalogPage> {
  const packed = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  if (packed.length < sumLength || packed.readUInt32LE() !== crc32(packed.subarray(sumLength))) {
    throw new Error('The catalog of a search index is damaged.')
  }
  const reader = new ByteReader(packed, sumLength)
  let id = 0
  let firstChunk = 0
  while (reader.at < packed.length) {
    id += reader.varint()
    const ofPages = reader.varint()
    firstChunk += reader.varint()
    const head = reader.varint()
    const lengths: number[] = []
    for (let left = head >>> 1; left > 0; left--) lengths.push(reader.varint())
    const keyLength = reader.varint()
    const key = packed.toString('utf8', reader.at, reader.at + keyLength)
    reader.at += keyLength
    yield { id, key, class: ofPages, isWhole: (head & 1) === 1, firstChunk, lengths }
  }
}
