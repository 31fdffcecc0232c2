import { boundary } from '../index/page-terms.ts'
import { TermScan } from '../text/term-hash.ts'
import { TermTable } from '../text/term-table.ts'
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
  const collected = { table: new TermTable(), lists: [] as PostingLists[], scan: new TermScan() }
  let chunkCount = 0
  for (const { chunks } of pages) {
    for (const { id, terms } of chunks) {
      chunkCount++
      addChunk(collected, id, terms)
    }
  }
  const writer = new SegmentWriter(sink, facts)
  const buffer = new PostingBuffer()
  for (const { term, index } of inOrder(collected.table.terms)) {
    if (term === boundary) continue
    buffer.clear()
    collected.lists[index]?.fill(buffer)
    writer.add(Buffer.from(term), buffer)
  }
  return writer.finish(
    Uint32Array.from(pages, ({ id }) => id),
    chunkCount,
  )
}

/** Positions count boundaries, so that none reaches across. */
function addChunk(
  { table, lists, scan }: { table: TermTable; lists: PostingLists[]; scan: TermScan },
  chunk: number,
  terms: string,
): void {
  scan.scan(terms, 0, terms.length)
  for (let position = 0; position < scan.count; position++) {
    const index = table.addAt(terms, scan, position)
    let list = lists[index]
    if (list === undefined) {
      list = new PostingLists()
      lists.push(list)
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

/** Terms by their UTF-8 bytes, with their places in the list. */
function inOrder(terms: readonly string[]): { term: string; index: number }[] {
  const all = terms.map((term, index) => ({ term, index }))
  if (!terms.some((term) => unordered.test(term))) return all.sort((a, b) => (a.term < b.term ? -1 : 1))
  return all
    .map((entry) => ({ ...entry, bytes: Buffer.from(entry.term) }))
    .sort((a, b) => Buffer.compare(a.bytes, b.bytes))
}
