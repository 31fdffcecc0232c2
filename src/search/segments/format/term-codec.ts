import { ByteReader, ByteWriter, grown } from '../../bytes/byte-writer.ts'
import { blockSize } from '../../rank/posting-list.ts'

/** Decoded postings of one term: ascending chunk ids, frequencies and positions. */
export class PostingBuffer {
  chunks = new Uint32Array(256)
  frequencies = new Uint32Array(256)
  /** End of each posting's positions in {@link positions}. */
  positionEnds = new Uint32Array(256)
  /** Distances between the positions of each posting. */
  readonly positions = new ByteWriter()
  count = 0

  clear(): void {
    this.count = 0
    this.positions.clear()
  }

  /** Adds a posting whose positions were written. */
  add(chunk: number, frequency: number): void {
    if (this.count === this.chunks.length) {
      this.chunks = grown(this.chunks, this.count + 1)
      this.frequencies = grown(this.frequencies, this.count + 1)
      this.positionEnds = grown(this.positionEnds, this.count + 1)
    }
    this.chunks[this.count] = chunk
    this.frequencies[this.count] = frequency
    this.positionEnds[this.count++] = this.positions.length
  }
}

/** Lengths of texts, by ids of chunks and of pages. */
export type Lengths = { pagesOfChunks: Uint32Array; chunkLengths: Uint32Array; pageLengths: Uint32Array }

/** Numbers of chunks and pages of a class with a term. */
export type ClassCount = { class: number; chunks: number; pages: number }

/**
 * Encodes the postings of a term without their positions. A posting is twice the distance from the chunk before, plus one if the
 * frequency is 1; otherwise the frequency less two follows. If there is more than one block, a directory and its length in bytes
 * come first. For every block it has the distance between the last chunks of this block and the one before, the bytes of its
 * postings and of their positions, and the {@link Frontier}s of its chunks and of their pages.
 */
export class TermEncoder {
  readonly #blocks = new ByteWriter()
  readonly #directory = new ByteWriter()
  #pageFrequencies = new Uint32Array(256)

  encode(postings: PostingBuffer, lengths: Lengths, out: ByteWriter): void {
    const { count } = postings
    if (count <= blockSize) {
      encodeBlock(postings, 0, count, 0, out)
      return
    }
    this.#blocks.clear()
    this.#directory.clear()
    this.#countPages(postings, lengths)
    let last = 0
    for (let start = 0; start < count; start += blockSize) {
      const end = Math.min(start + blockSize, count)
      const before = this.#blocks.length
      encodeBlock(postings, start, end, last, this.#blocks)
      const lastOfBlock = postings.chunks[end - 1] ?? 0
      this.#directory.varint(lastOfBlock - last)
      this.#directory.varint(this.#blocks.length - before)
      this.#directory.varint((postings.positionEnds[end - 1] ?? 0) - (postings.positionEnds[start - 1] ?? 0))
      this.#writeFrontiers(postings, lengths, start, end)
      last = lastOfBlock
    }
    out.varint(this.#directory.length)
    out.bytes(this.#directory.written)
    out.bytes(this.#blocks.written)
  }

  /** Computes the frequency of the term in the whole page of each posting. */
  #countPages({ chunks, frequencies, count }: PostingBuffer, { pagesOfChunks }: Lengths): void {
    if (this.#pageFrequencies.length < count) this.#pageFrequencies = new Uint32Array(2 * count)
    for (let start = 0; start < count; ) {
      const page = pagesOfChunks[chunks[start] ?? 0]
      let [end, sum] = [start, 0]
      for (; end < count && pagesOfChunks[chunks[end] ?? 0] === page; end++) sum += frequencies[end] ?? 0
      this.#pageFrequencies.fill(sum, start, end)
      start = end
    }
  }

  #writeFrontiers({ chunks, frequencies }: PostingBuffer, lengths: Lengths, start: number, end: number): void {
    const [ofChunks, ofPages] = [new Frontier(), new Frontier()]
    for (let at = start; at < end; at++) {
      const chunk = chunks[at] ?? 0
      ofChunks.add(frequencies[at] ?? 0, lengths.chunkLengths[chunk] ?? 0)
      const page = lengths.pagesOfChunks[chunk] ?? 0
      ofPages.add(this.#pageFrequencies[at] ?? 0, lengths.pageLengths[page] ?? 0)
    }
    ofChunks.write(this.#directory)
    ofPages.write(this.#directory)
  }
}

function encodeBlock(postings: PostingBuffer, start: number, end: number, last: number, out: ByteWriter): void {
  let before = last
  for (let at = start; at < end; at++) {
    const chunk = postings.chunks[at] ?? 0
    const frequency = postings.frequencies[at] ?? 0
    // Chunk ids are below 2^31.
    out.varint(2 * (chunk - before) + (frequency === 1 ? 1 : 0))
    if (frequency !== 1) out.varint(frequency - 2)
    before = chunk
  }
}

/** Decodes `count` postings into `chunks` and `frequencies`, from index `to`. @returns the id of the last chunk */
export function decodeBlock(
  reader: ByteReader,
  count: number,
  last: number,
  chunks: Uint32Array,
  frequencies: Uint32Array,
  to = 0,
): number {
  let chunk = last
  for (let at = to; at < to + count; at++) {
    const head = reader.varint()
    chunk += head >>> 1
    chunks[at] = chunk
    frequencies[at] = (head & 1) === 1 ? 1 : reader.varint() + 2
  }
  return chunk
}

/** Adds the frequencies of all postings of a term to an array, indexed from the chunk `first`. */
export function addPostings(bytes: Uint8Array, count: number, frequencies: Uint32Array, first: number): void {
  let { at } = readerOfPostings(bytes, count)
  let place = -first
  for (let left = count; left > 0; left--) {
    // Inlines `ByteReader.varint`, which would store its position in memory: a prefix has tens of thousands of postings.
    let byte = bytes[at++] ?? 0
    let head = byte & 127
    for (let shift = 7; byte >= 128 && shift < 35; shift += 7) {
      byte = bytes[at++] ?? 0
      head |= (byte & 127) << shift
    }
    place += head >>> 1
    let frequency = 1
    if ((head & 1) === 0) {
      byte = bytes[at++] ?? 0
      frequency = 2 + (byte & 127)
      for (let shift = 7; byte >= 128 && shift < 35; shift += 7) {
        byte = bytes[at++] ?? 0
        frequency += (byte & 127) << shift
      }
    }
    frequencies[place] = (frequencies[place] ?? 0) + frequency
  }
}

/** Returns a reader at the first posting. The blocks follow each other after their directory. */
function readerOfPostings(bytes: Uint8Array, count: number): ByteReader {
  const reader = new ByteReader(bytes)
  if (count > blockSize) reader.at = reader.varint() + reader.at
  return reader
}

/** Appends all postings of a term with their positions to a buffer, except those of dropped pages. */
export function decodeTerm(
  bytes: Uint8Array,
  { docs, count, isDropped }: { docs: number; count: number; isDropped: (chunk: number) => boolean },
  out: PostingBuffer,
): void {
  const reader = readerOfPostings(bytes, count)
  const positions = new ByteReader(bytes, docs)
  let chunk = 0
  for (let left = count; left > 0; left--) {
    const head = reader.varint()
    chunk += head >>> 1
    const frequency = (head & 1) === 1 ? 1 : reader.varint() + 2
    const start = positions.at
    positions.skip(frequency)
    if (isDropped(chunk)) continue
    out.positions.bytes(bytes, start, positions.at)
    out.add(chunk, frequency)
  }
}

/** Maximum pairs: more would bound scores a little better, but take more room. */
const maxPairs = 4

/**
 * Impacts of postings: pairs of frequency and length for which no other pair has at least this frequency in a text as short.
 * Whatever the average length of the visible texts, no posting scores higher than the best pair. As Lucene's impacts, after Ding
 * and Suel, "Faster Top-k Document Retrieval Using Block-Max Indexes", 2011.
 */
export class Frontier {
  /** Pairs by ascending frequency, and so by ascending length. */
  readonly #frequencies: number[] = []
  readonly #lengths: number[] = []

  add(frequency: number, length: number): void {
    const [frequencies, lengths] = [this.#frequencies, this.#lengths]
    let at = frequencies.length
    while (at > 0 && (frequencies[at - 1] ?? 0) >= frequency) at--
    // Pairs from here on have at least this frequency; the first of them has the shortest text.
    if (at < frequencies.length && (lengths[at] ?? 0) <= length) return
    let start = at
    while (start > 0 && (lengths[start - 1] ?? 0) >= length) start--
    let end = at
    while (end < frequencies.length && frequencies[end] === frequency && (lengths[end] ?? 0) >= length) end++
    frequencies.splice(start, end - start, frequency)
    lengths.splice(start, end - start, length)
    if (frequencies.length <= maxPairs) return
    // Merges the two pairs with the lowest frequencies into one that dominates both.
    frequencies.shift()
    lengths.splice(1, 1)
  }

  write(out: ByteWriter): void {
    out.varint(this.#frequencies.length)
    for (const [index, frequency] of this.#frequencies.entries()) {
      out.varint(frequency)
      out.varint(this.#lengths[index] ?? 0)
    }
  }
}

/** Returns the highest score of the pairs that {@link Frontier.write} wrote. */
export function highestScore(reader: ByteReader, score: (frequency: number, length: number) => number): number {
  let highest = 0
  for (let left = reader.varint(); left > 0; left--) {
    const frequency = reader.varint()
    highest = Math.max(highest, score(frequency, reader.varint()))
  }
  return highest
}
