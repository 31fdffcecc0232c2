/** Functions that return the score of a posting, from its frequency and the length of its chunk or page. */
export type Scoring = {
  ofChunk: (frequency: number, length: number) => number
  ofPage: (frequency: number, length: number) => number
}

/** Id after all chunks. */
export const end = 0xffffffff
/** Number of postings in a block. */
export const blockSize = 128

/** Postings of a term, of a phrase, or of several terms as one, in blocks. All of them are in memory; see `TermPostings` for others. */
export class PostingList {
  readonly count: number
  /** Ascending chunk ids and frequencies, of loaded blocks. */
  readonly chunks: Uint32Array
  readonly frequencies: Uint32Array
  readonly lastChunks: Uint32Array
  #pages: Uint32Array | undefined

  /** Wraps postings. @param chunks ascending @param lastChunks last chunk of each block */
  constructor(chunks: Uint32Array, frequencies: Uint32Array, lastChunks = lastOfBlocks(chunks)) {
    this.count = chunks.length
    this.chunks = chunks
    this.frequencies = frequencies
    this.lastChunks = lastChunks
  }

  /** Decodes a block if it is not decoded yet. */
  load(_block: number): void {}

  /** Returns the maximum score of each block. Undefined if the postings themselves must be read. */
  bounds(_scoring: Scoring): Float64Array | undefined {
    return undefined
  }

  /** Returns the ascending ids of the chunks' pages. */
  pages(pagesOfChunks: Uint32Array): Uint32Array {
    this.#pages ??= pagesOf(this, pagesOfChunks)
    return this.#pages
  }
}

function lastOfBlocks(chunks: Uint32Array): Uint32Array {
  const blocks = Math.ceil(chunks.length / blockSize)
  return Uint32Array.from({ length: blocks }, (_, block) => {
    return chunks[Math.min(chunks.length, (block + 1) * blockSize) - 1] ?? 0
  })
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
