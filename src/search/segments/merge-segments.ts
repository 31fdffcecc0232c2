import { MergedTerms } from './format/dictionary.ts'
import { type Facts, type Segment, type SegmentShape, SegmentWriter } from './format/segment.ts'
import type { SegmentSink } from './format/segment-bytes.ts'
import { decodeTerm, PostingBuffer } from './format/term-codec.ts'

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
      decodeTerm(owner.allOf(terms), { docs: terms.docs, count: terms.postingCount, isDropped }, joined)
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
