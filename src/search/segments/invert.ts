import { grown } from '../bytes/byte-writer.ts'
import { boundary } from '../index/page-terms.ts'
import { TermTable } from '../text/term-table.ts'
import { MergedTerms } from './format/dictionary.ts'
import { type Facts, Segment, type SegmentShape, SegmentWriter } from './format/segment.ts'
import { MemorySink, type SegmentSink } from './format/segment-bytes.ts'
import { decodeTerm, PostingBuffer } from './format/term-codec.ts'

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

/** Matches characters that UTF-16 and UTF-8 order differently. */
const unordered = /[\ud800-\uffff]/

/** The terms of chunks in text order, as indexes of a table. Inverted by a counting sort. */
class ForwardIndex {
  readonly #table = new TermTable()
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
    const indexes = this.#table.addTerms(terms)
    const end = this.#length + indexes.length
    if (end > this.#terms.length) this.#terms = grown(this.#terms, end)
    this.#terms.set(indexes, this.#length)
    this.#length = end
    this.#chunks.push(chunk)
    this.#ends.push(end)
  }

  /** Visits each term, in the order of UTF-8 bytes, with its postings, which are valid until the next call. */
  invert(postings: PostingBuffer, visit: (term: Buffer, postings: PostingBuffer) => void): void {
    const { starts, chunks, positions } = this.#sorted()
    for (const { term, index } of sortedTerms(this.#table.terms)) {
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
function sortedTerms(terms: readonly string[]): { term: string; index: number }[] {
  const all = terms.map((term, index) => ({ term, index }))
  if (!terms.some((term) => unordered.test(term))) return all.sort((a, b) => (a.term < b.term ? -1 : 1))
  return all
    .map((entry) => ({ ...entry, bytes: Buffer.from(entry.term) }))
    .sort((a, b) => Buffer.compare(a.bytes, b.bytes))
}

/**
 * Merges segments into one, without removed pages. Yields after every term, so that the work can be interrupted.
 * @param isKept by page id; must not change until the end
 */
export function* merge(
  segments: readonly Segment[],
  { facts, isKept, chunkCountOfPage }: { facts: Facts; isKept: Uint8Array; chunkCountOfPage: (page: number) => number },
  sink: SegmentSink,
): Generator<undefined, SegmentShape> {
  const writer = new SegmentWriter(sink, facts)
  const isDropped = (chunk: number) => isKept[facts.pagesOfChunks[chunk] ?? 0] !== 1
  // Sorts by first page: then most postings are in order.
  const sorted = segments.toSorted((a, b) => (a.pages[0] ?? 0) - (b.pages[0] ?? 0))
  const all = new Uint8Array()
  const inputs = sorted.map((segment) => ({ owner: segment, terms: segment.dictionary.from(all) }))
  const joined = new PostingBuffer()
  const ordered = new PostingBuffer()
  for (const merged = new MergedTerms(inputs, all); merged.at[0] !== undefined; merged.next()) {
    joined.clear()
    for (const { owner, terms } of merged.at) {
      decodeTerm(owner.allOf(terms), { docs: terms.docs, count: terms.chunkCount(), isDropped }, joined)
    }
    writer.add(merged.at[0].terms.term, inOrder(joined, ordered))
    yield
  }
  const pages = keptPages(sorted, isKept)
  const chunkCount = pages.reduce((sum, page) => sum + chunkCountOfPage(page), 0)
  return writer.finish(pages, chunkCount)
}

/** Returns the ascending ids of the pages to keep. */
function keptPages(segments: readonly Segment[], isKept: Uint8Array): Uint32Array {
  const all = new Uint32Array(segments.reduce((sum, { pages }) => sum + pages.length, 0))
  let count = 0
  let isSorted = true
  for (const { pages } of segments) {
    for (const page of pages) {
      if (isKept[page] !== 1) continue
      isSorted &&= count === 0 || (all[count - 1] ?? 0) < page
      all[count++] = page
    }
  }
  const kept = all.slice(0, count)
  return isSorted ? kept : kept.sort()
}

/** Sorts postings by chunk, into `other` if they are not sorted yet. */
function inOrder(postings: PostingBuffer, other: PostingBuffer): PostingBuffer {
  const { chunks, count } = postings
  let isSorted = true
  for (let at = 1; at < count && isSorted; at++) isSorted = (chunks[at - 1] ?? 0) < (chunks[at] ?? 0)
  if (isSorted) return postings
  other.clear()
  const order = Array.from({ length: count }, (_, at) => at).sort((a, b) => (chunks[a] ?? 0) - (chunks[b] ?? 0))
  for (const at of order) {
    other.positions.bytes(postings.positions.written, postings.positionEnds[at - 1] ?? 0, postings.positionEnds[at])
    other.add(chunks[at] ?? 0, postings.frequencies[at] ?? 0)
  }
  return other
}
