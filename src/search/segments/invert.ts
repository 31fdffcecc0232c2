import { PostingBuffer } from './format/posting-buffer.ts'
import { type Facts, Segment, type SegmentShape, SegmentWriter } from './format/segment.ts'
import { MemorySink, type SegmentSink } from './format/segment-bytes.ts'
import { ForwardIndex } from './forward-index.ts'

/** A whole page: its chunks by ascending id, each with its terms as `pageTerms` made them. */
export type InvertedPage = { id: number; chunks: Iterable<{ id: number; terms: string }> }

/** Makes a segment in memory of some whole pages. */
export function invert(pages: readonly InvertedPage[], facts: Facts): Segment {
  const sink = new MemorySink()
  const shape = invertInto(sink, pages, facts)
  return new Segment(sink.finish(), shape)
}

/** Writes a segment of some whole pages. @param pages by ascending id, as their chunks are */
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
