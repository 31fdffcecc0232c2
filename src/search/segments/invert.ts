import { boundary } from '../index/page-terms.ts'
import { PostingBuffer } from './posting-buffer.ts'
import { type Facts, Segment, type SegmentShape, SegmentWriter } from './segment.ts'
import { MemorySink, type SegmentSink } from './segment-bytes.ts'

/** A whole page: its chunks by ascending id, each with its terms as `pageTerms` made them. */
export type InvertedPage = { id: number; chunks: Iterable<{ id: number; terms: string }> }

/** Beyond the characters that UTF-16 and UTF-8 put in the same order. */
const unordered = /[\ud800-\uffff]/

/** Makes a segment in memory of some whole pages. */
export function invert(pages: readonly InvertedPage[], facts: Facts): Segment {
  const sink = new MemorySink()
  const shape = invertInto(sink, pages, facts)
  return new Segment(sink.finish(), shape)
}

/** Writes a segment of some whole pages. @param pages by ascending id, as their chunks are */
export function invertInto(sink: SegmentSink, pages: readonly InvertedPage[], facts: Facts): SegmentShape {
  const lists = new Map<string, PostingLists>()
  let chunkCount = 0
  for (const { chunks } of pages) {
    for (const { id, terms } of chunks) {
      chunkCount++
      addChunk(lists, id, terms)
    }
  }
  const writer = new SegmentWriter(sink, facts)
  const buffer = new PostingBuffer()
  for (const term of inOrder([...lists.keys()])) {
    buffer.clear()
    lists.get(term)?.fill(buffer)
    writer.add(Buffer.from(term), buffer)
  }
  return writer.finish(
    Uint32Array.from(pages, ({ id }) => id),
    chunkCount,
  )
}

/** Positions count boundaries, so that none reaches across. */
function addChunk(lists: Map<string, PostingLists>, chunk: number, terms: string): void {
  let position = 0
  for (let start = 1; start < terms.length; position++) {
    const space = terms.indexOf(' ', start)
    const end = space < 0 ? terms.length : space
    const term = terms.slice(start, end)
    start = end + 1
    if (term === boundary || term === '') continue
    let list = lists.get(term)
    if (list === undefined) {
      list = new PostingLists()
      lists.set(term, list)
    }
    list.add(chunk, position)
  }
}

/** The postings of a term while they are collected. */
class PostingLists {
  readonly #chunks: number[] = []
  readonly #frequencies: number[] = []
  readonly #distances: number[] = []
  #last = 0

  add(chunk: number, position: number): void {
    const index = this.#chunks.length - 1
    if (index >= 0 && this.#chunks[index] === chunk) {
      this.#frequencies[index] = (this.#frequencies[index] ?? 0) + 1
      this.#distances.push(position - this.#last)
    } else {
      this.#chunks.push(chunk)
      this.#frequencies.push(1)
      this.#distances.push(position)
    }
    this.#last = position
  }

  fill(buffer: PostingBuffer): void {
    let next = 0
    for (const [index, chunk] of this.#chunks.entries()) {
      const frequency = this.#frequencies[index] ?? 0
      for (let left = frequency; left > 0; left--) buffer.positions.varint(this.#distances[next++] ?? 0)
      buffer.add(chunk, frequency)
    }
  }
}

/** Terms by their UTF-8 bytes. */
function inOrder(terms: string[]): string[] {
  if (!terms.some((term) => unordered.test(term))) return terms.sort()
  return terms
    .map((term) => ({ term, bytes: Buffer.from(term) }))
    .sort((a, b) => Buffer.compare(a.bytes, b.bytes))
    .map(({ term }) => term)
}
