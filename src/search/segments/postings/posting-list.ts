import { LRUCache } from 'lru-cache'
import { ByteReader } from '../../bytes/byte-writer.ts'
import type { TermEntry } from '../format/dictionary.ts'
import { chunkCountOf, type Segment } from '../format/segment.ts'
import { blockSize, decodeBlock, highestScore } from '../format/term-codec.ts'

/** Scores of a posting: by its frequency in a chunk of that length, and in a page. */
export type Scoring = {
  ofChunk: (frequency: number, length: number) => number
  ofPage: (frequency: number, length: number) => number
}

/** Id after all chunks. */
export const end = 0xffffffff
const nothing = new Uint8Array()

/** Postings in blocks; see {@link PostingCursor}. */
export interface PostingList {
  readonly count: number
  /** Ascending chunk ids and frequencies, of loaded blocks. */
  readonly chunks: Uint32Array
  readonly frequencies: Uint32Array
  readonly lastChunks: Uint32Array
  /** Decodes a block if it is not decoded yet. */
  load(block: number): void
  /** Returns the ascending ids of the chunks' pages. */
  pages(pagesOfChunks: Uint32Array): Uint32Array
  /** Returns the maximum score of each block; undefined if the postings themselves must be read. */
  bounds(scoring: Scoring): Float64Array | undefined
}

/** Cursor over a list of postings. */
export class PostingCursor {
  readonly list: PostingList
  /** Current chunk; {@link end} after the last. */
  chunk = end
  frequency = 0
  /** Loaded block, current index in the list, and start and end of the block. */
  block = -1
  index = 0
  start = 0
  stop = 0
  readonly #chunks: Uint32Array
  readonly #frequencies: Uint32Array

  constructor(list: PostingList) {
    this.list = list
    this.#chunks = list.chunks
    this.#frequencies = list.frequencies
    this.#toBlock(0)
  }

  next(): void {
    if (++this.index < this.stop) this.#read()
    else this.#toBlock(this.block + 1)
  }

  /** Moves to the first chunk from `chunk` on, forwards or backwards. */
  seek(chunk: number): void {
    const { lastChunks } = this.list
    const isInBlock =
      this.block < lastChunks.length &&
      chunk <= (lastChunks[this.block] ?? 0) &&
      (this.block === 0 || chunk > (lastChunks[this.block - 1] ?? 0))
    if (!isInBlock) this.#toBlock(firstFrom(lastChunks, chunk))
    if (this.chunk === end) return
    const from = chunk < this.chunk ? this.start : this.index
    this.index = firstFrom(this.#chunks, chunk, from, this.stop)
    this.#read()
  }

  #toBlock(block: number): void {
    this.block = block
    this.chunk = end
    if (block >= this.list.lastChunks.length) return
    this.list.load(block)
    this.start = block * blockSize
    this.stop = Math.min(this.start + blockSize, this.list.count)
    this.index = this.start
    this.#read()
  }

  #read(): void {
    this.chunk = this.#chunks[this.index] ?? end
    this.frequency = this.#frequencies[this.index] ?? 0
  }
}

/** Returns the index of the first ascending number that is at least `least`, or `to` if there is none. */
export function firstFrom(numbers: Uint32Array, least: number, from = 0, to = numbers.length): number {
  let [low, high] = [from, to]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((numbers[middle] ?? 0) < least) low = middle + 1
    else high = middle
  }
  return low
}

/** Returns the index of the first chunk not before `chunk`, from `from` on; `count` if there is none. Loads its block. */
export function indexFrom(list: PostingList, chunk: number, from = 0): number {
  const { lastChunks, count } = list
  let block = Math.floor(from / blockSize)
  if ((lastChunks[block] ?? 0) < chunk) block = firstFrom(lastChunks, chunk, block)
  if (block >= lastChunks.length) return count
  list.load(block)
  const start = block * blockSize
  return firstFrom(list.chunks, chunk, Math.max(start, from), Math.min(start + blockSize, count))
}

/** Postings of a term in a segment. Blocks are decoded on demand. */
export class TermPostings implements PostingList {
  readonly count: number
  readonly chunks: Uint32Array
  readonly frequencies: Uint32Array
  readonly lastChunks: Uint32Array
  readonly #docs: Uint8Array
  /** 1 for each decoded block. */
  readonly #isDecoded: Uint8Array
  /** Start of each block, and of its frontiers. */
  readonly #starts: Uint32Array
  readonly #frontiers: Uint32Array
  /** Bytes of positions before each block, and in all. */
  readonly positionStarts: Uint32Array
  #pages: Uint32Array | undefined

  constructor(segment: Segment, entry: TermEntry) {
    this.count = chunkCountOf(entry)
    this.chunks = new Uint32Array(this.count)
    this.frequencies = new Uint32Array(this.count)
    const blocks = Math.ceil(this.count / blockSize)
    this.lastChunks = new Uint32Array(blocks)
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

  load(block: number): void {
    if (this.#isDecoded[block] === 1) return
    this.#isDecoded[block] = 1
    const from = block * blockSize
    const count = Math.min(blockSize, this.count - from)
    const reader = new ByteReader(this.#docs, this.#starts[block])
    decodeBlock(reader, count, this.lastChunks[block - 1] ?? 0, this.chunks, this.frequencies, from)
  }

  pages(pagesOfChunks: Uint32Array): Uint32Array {
    this.#pages ??= pagesOf(this, pagesOfChunks)
    return this.#pages
  }

  bounds({ ofChunk, ofPage }: Scoring): Float64Array | undefined {
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

/** Computed postings: of a phrase, or of several terms as one. */
export class ComputedPostings implements PostingList {
  readonly count: number
  readonly lastChunks: Uint32Array
  readonly chunks: Uint32Array
  readonly frequencies: Uint32Array
  #pages: Uint32Array | undefined

  /** Wraps postings. @param chunks ascending */
  constructor(chunks: Uint32Array, frequencies: Uint32Array) {
    this.chunks = chunks
    this.frequencies = frequencies
    this.count = chunks.length
    this.lastChunks = Uint32Array.from({ length: Math.ceil(this.count / blockSize) }, (_, block) => {
      return chunks[Math.min(this.count, (block + 1) * blockSize) - 1] ?? 0
    })
  }

  /** Needs nothing: all blocks are decoded. */
  load(): void {}

  pages(pagesOfChunks: Uint32Array): Uint32Array {
    this.#pages ??= pagesOf(this, pagesOfChunks)
    return this.#pages
  }

  /** Returns no bounds, which would take as long to find as the scores themselves. */
  bounds(): undefined {
    return undefined
  }
}

function pagesOf(list: PostingList, pagesOfChunks: Uint32Array): Uint32Array {
  const { chunks, count } = list
  const pages = new Uint32Array(count)
  let pageCount = 0
  let last = 0
  for (let at = 0; at < count; at++) {
    if (at % blockSize === 0) list.load(at / blockSize)
    const page = pagesOfChunks[chunks[at] ?? 0] ?? 0
    if (page !== last) pages[pageCount++] = page
    last = page
  }
  return pageCount === count ? pages : pages.slice(0, pageCount)
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
