import { grown } from '../bytes/byte-writer.ts'
import { boundary } from '../index/page-terms.ts'
import { TermScan, TermTable } from '../text/term-table.ts'
import { type Facts, Segment, type SegmentShape, SegmentWriter } from './format/segment.ts'
import { MemorySink, type SegmentSink } from './format/segment-bytes.ts'
import { PostingBuffer } from './format/term-codec.ts'

/** A page with its chunks by ascending id, and their terms as `pageTerms` writes them. */
export type InvertedPage = { id: number; chunks: Iterable<{ id: number; terms: string }> }

/** Builds a segment of pages in memory. */
export function invert(pages: readonly InvertedPage[], facts: Facts): Segment {
  const sink = new MemorySink()
  const shape = invertInto(sink, pages, facts)
  return new Segment(sink.finish(), shape)
}

/** Writes a segment of pages. @param pages by ascending id, as their chunks are */
export function invertInto(sink: SegmentSink, pages: readonly InvertedPage[], facts: Facts): SegmentShape {
  const forward = new ForwardIndex()
  for (const { chunks } of pages) for (const { id, terms } of chunks) forward.add(id, terms)
  const writer = new SegmentWriter(sink, facts)
  forward.invert(new PostingBuffer(), (term, postings) => writer.add(term, postings))
  return writer.finish(
    Uint32Array.from(pages, ({ id }) => id),
    forward.chunkCount,
  )
}

/** Characters that UTF-16 and UTF-8 order differently. */
const unordered = /[\ud800-\uffff]/

/** The terms of chunks in text order, as indexes of a table. Inverted by a counting sort. */
class ForwardIndex {
  readonly #table = new TermTable()
  readonly #scan = new TermScan()
  readonly #chunks: number[] = []
  /** End of each chunk's terms in {@link #terms}. */
  readonly #ends: number[] = []
  #terms = new Uint32Array(1024)
  #length = 0

  get chunkCount(): number {
    return this.#chunks.length
  }

  /** Adds a chunk. @param chunk a higher id than those before @param terms as `pageTerms` writes them */
  add(chunk: number, terms: string): void {
    const [table, scan] = [this.#table, this.#scan]
    scan.scan(terms, 0, terms.length)
    const end = this.#length + scan.count
    if (end > this.#terms.length) this.#terms = grown(this.#terms, end)
    for (let at = 0; at < scan.count; at++) this.#terms[this.#length + at] = table.addAt(terms, scan, at)
    this.#length = end
    this.#chunks.push(chunk)
    this.#ends.push(end)
  }

  /** Visits each term, in the order of UTF-8 bytes, with its postings, which are valid until the next call. */
  invert(postings: PostingBuffer, visit: (term: Buffer, postings: PostingBuffer) => void): void {
    const { starts, chunks, positions } = this.#sorted()
    for (const { term, index } of inOrder(this.#table.terms)) {
      if (term === boundary) continue
      postings.clear()
      const end = starts[index + 1] ?? 0
      for (let at = starts[index] ?? 0; at < end; ) {
        const chunk = chunks[at] ?? 0
        let [last, frequency] = [0, 0]
        for (; at < end && chunks[at] === chunk; at++, frequency++) {
          const position = positions[at] ?? 0
          postings.positions.varint(position - last)
          last = position
        }
        postings.add(chunk, frequency)
      }
      visit(Buffer.from(term), postings)
    }
  }

  /** Sorts occurrences by term, each with its chunk and its position there. Positions count boundaries, so that no phrase matches across them. */
  #sorted(): { starts: Uint32Array; chunks: Uint32Array; positions: Uint32Array } {
    const terms = this.#terms.subarray(0, this.#length)
    const starts = new Uint32Array(this.#table.terms.length + 1)
    for (const term of terms) starts[term + 1] = (starts[term + 1] ?? 0) + 1
    for (let term = 1; term < starts.length; term++) starts[term] = (starts[term] ?? 0) + (starts[term - 1] ?? 0)
    const next = starts.slice()
    const [chunks, positions] = [new Uint32Array(terms.length), new Uint32Array(terms.length)]
    let at = 0
    for (const [index, end] of this.#ends.entries()) {
      const chunk = this.#chunks[index] ?? 0
      for (let position = 0; at < end; position++) {
        const term = terms[at++] ?? 0
        const place = next[term] ?? 0
        next[term] = place + 1
        chunks[place] = chunk
        positions[place] = position
      }
    }
    return { starts, chunks, positions }
  }
}

/** Sorts terms by their UTF-8 bytes, with their indexes. */
function inOrder(terms: readonly string[]): { term: string; index: number }[] {
  const all = terms.map((term, index) => ({ term, index }))
  if (!terms.some((term) => unordered.test(term))) return all.sort((a, b) => (a.term < b.term ? -1 : 1))
  return all
    .map((entry) => ({ ...entry, bytes: Buffer.from(entry.term) }))
    .sort((a, b) => Buffer.compare(a.bytes, b.bytes))
}
