import { LRUCache } from 'lru-cache'
import { ByteReader } from '../bytes/byte-writer.ts'
import { blockSize, end, indexFrom, PostingList, type Scoring } from '../rank/posting-list.ts'
import type { TermEntry } from './format/dictionary.ts'
import { chunkCountOf, type Segment } from './format/segment.ts'
import { decodeBlock, highestScore } from './format/term-codec.ts'

const nothing = new Uint8Array()
/** Minimum bytes of positions to read at once. */
const readAhead = 64 * 1024

/** Postings of a term in a segment. Blocks are decoded on demand. */
export class TermPostings extends PostingList {
  readonly #docs: Uint8Array
  /** 1 for each decoded block. */
  readonly #isDecoded: Uint8Array
  /** Start of each block, and of its frontiers. */
  readonly #starts: Uint32Array
  readonly #frontiers: Uint32Array
  /** Bytes of positions before each block, and in all. */
  readonly positionStarts: Uint32Array

  constructor(segment: Segment, entry: TermEntry) {
    const count = chunkCountOf(entry)
    const blocks = Math.ceil(count / blockSize)
    super(new Uint32Array(count), new Uint32Array(count), new Uint32Array(blocks))
    this.#isDecoded = new Uint8Array(blocks)
    this.#starts = new Uint32Array(blocks)
    this.#frontiers = new Uint32Array(blocks > 1 ? blocks : 0)
    this.positionStarts = new Uint32Array(blocks + 1)
    const docs = segment.docsOf(entry)
    // Copies the bytes, which are a view of a longer part of the file. `slice` of a Buffer would be a view, too.
    this.#docs = blocks > 1 ? new Uint8Array(docs) : nothing
    if (blocks > 1) this.#readDirectory()
    else this.#readOnlyBlock(docs, entry)
  }

  /** Bytes in memory, approximately. */
  get size(): number {
    return 500 + this.#docs.length + 12 * this.count + 17 * this.lastChunks.length
  }

  override load(block: number): void {
    if (this.#isDecoded[block] === 1) return
    this.#isDecoded[block] = 1
    const from = block * blockSize
    const count = Math.min(blockSize, this.count - from)
    const reader = new ByteReader(this.#docs, this.#starts[block])
    decodeBlock(reader, count, this.lastChunks[block - 1] ?? 0, this.chunks, this.frequencies, from)
  }

  override bounds({ ofChunk, ofPage }: Scoring): Float64Array | undefined {
    if (this.#frontiers.length === 0) return undefined
    const bounds = new Float64Array(this.#frontiers.length)
    const reader = new ByteReader(this.#docs)
    for (let block = 0; block < bounds.length; block++) {
      reader.at = this.#frontiers[block] ?? 0
      bounds[block] = highestScore(reader, ofChunk) + highestScore(reader, ofPage)
    }
    return bounds
  }

  #readDirectory(): void {
    const reader = new ByteReader(this.#docs)
    let start = reader.varint()
    start += reader.at
    let [last, positions] = [0, 0]
    for (let block = 0; block < this.lastChunks.length; block++) {
      last += reader.varint()
      this.lastChunks[block] = last
      this.#starts[block] = start
      start += reader.varint()
      this.positionStarts[block] = positions
      positions += reader.varint()
      this.#frontiers[block] = reader.at
      reader.skip(2 * reader.varint())
      reader.skip(2 * reader.varint())
    }
    this.positionStarts[this.lastChunks.length] = positions
  }

  #readOnlyBlock(docs: Uint8Array, { positions }: TermEntry): void {
    this.lastChunks[0] = decodeBlock(new ByteReader(docs), this.count, 0, this.chunks, this.frequencies)
    this.#isDecoded[0] = 1
    this.positionStarts[1] = positions
  }
}

/** Maximum bytes of cached lists of all indexes, approximately. */
const maxSize = 16 * 2 ** 20

const lists = new LRUCache<TermEntry, TermPostings>({ maxSize, sizeCalculation: ({ size }) => size })

/**
 * Returns the postings of a term in a segment. Caches recent ones with their decoded blocks: queries share words.
 * @param entry identified by its reference
 */
export function postingsOf(segment: Segment, entry: TermEntry): TermPostings {
  const known = lists.get(entry)
  if (known !== undefined) return known
  const list = new TermPostings(segment, entry)
  lists.set(entry, list)
  return list
}

/** Iterates forwards over the postings of a term with their positions. */
export class TermPositions {
  readonly list: TermPostings
  /** Index of the current posting in the list. */
  #index = 0
  readonly #segment: Segment
  readonly #entry: TermEntry
  #bytes: Uint8Array = new Uint8Array()
  #from = 0
  /** Block that is read, and the posting whose positions are next. */
  #block = -1
  #next = 0
  #reader = new ByteReader(new Uint8Array())

  constructor(segment: Segment, entry: TermEntry) {
    this.#segment = segment
    this.#entry = entry
    this.list = postingsOf(segment, entry)
  }

  /** Moves to the first posting not before a chunk. @returns its chunk; {@link end} after the last */
  seek(chunk: number): number {
    this.#index = indexFrom(this.list, chunk, this.#index)
    return this.list.chunks[this.#index] ?? end
  }

  /** Returns the positions of the current posting. */
  positions(): number[] {
    const index = this.#index
    const block = Math.floor(index / blockSize)
    const { frequencies } = this.list
    if (block !== this.#block) this.#toBlock(block)
    for (; this.#next < index; this.#next++) this.#reader.skip(frequencies[this.#next] ?? 0)
    this.#next++
    let position = 0
    return Array.from({ length: frequencies[index] ?? 0 }, () => (position += this.#reader.varint()))
  }

  #toBlock(block: number): void {
    const start = this.list.positionStarts[block] ?? 0
    const stop = this.list.positionStarts[block + 1] ?? 0
    if (start < this.#from || stop > this.#from + this.#bytes.length) {
      const length = Math.min(Math.max(stop - start, readAhead), this.#entry.positions - start)
      this.#bytes = this.#segment.positionsOf(this.#entry, start, length)
      this.#from = start
    }
    this.#reader = new ByteReader(this.#bytes, start - this.#from)
    this.#block = block
    this.#next = block * blockSize
  }
}
