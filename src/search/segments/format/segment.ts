import { ByteReader, ByteWriter } from '../../bytes/byte-writer.ts'
import { Dictionary, DictionaryWriter, type TermEntry } from './dictionary.ts'
import type { SegmentBytes, SegmentSink } from './segment-bytes.ts'
import { type ClassCount, type Lengths, type PostingBuffer, TermEncoder } from './term-codec.ts'

/** Layout of a segment. It starts with the postings of each term, followed by their positions. */
export type SegmentShape = {
  size: number
  termCount: number
  pageCount: number
  chunkCount: number
  /** Offset of the dictionary in bytes, and of the page ids after it. */
  dictionaryAt: number
  pagesAt: number
}

/** Access classes and lengths of pages, such as those of the catalog. */
export type Facts = Lengths & { classOf(page: number): number }

/** Writes a segment, term by term in the order of UTF-8 bytes. */
export class SegmentWriter {
  readonly #sink: SegmentSink
  readonly #facts: Facts
  readonly #dictionary = new DictionaryWriter()
  readonly #encoder = new TermEncoder()
  readonly #docs = new ByteWriter()

  constructor(sink: SegmentSink, facts: Facts) {
    this.#sink = sink
    this.#facts = facts
  }

  add(term: Uint8Array, postings: PostingBuffer): void {
    if (postings.count === 0) return
    const offset = this.#sink.length
    this.#docs.clear()
    this.#encoder.encode(postings, this.#facts, this.#docs)
    this.#sink.write(this.#docs.written)
    this.#sink.write(postings.positions.written)
    const [docs, positions] = [this.#docs.length, postings.positions.length]
    this.#dictionary.add(term, { counts: this.#countsOf(postings), offset, docs, positions })
  }

  /** Writes the rest. @param pages ascending ids */
  finish(pages: Uint32Array, chunkCount: number): SegmentShape {
    const dictionaryAt = this.#sink.length
    for (const bytes of this.#dictionary.finish()) this.#sink.write(bytes)
    const pagesAt = this.#sink.length
    const out = new ByteWriter()
    let last = 0
    for (const page of pages) {
      out.varint(page - last)
      last = page
    }
    this.#sink.write(out.written)
    const { count: termCount } = this.#dictionary
    return { size: this.#sink.length, termCount, pageCount: pages.length, chunkCount, dictionaryAt, pagesAt }
  }

  /** Counts postings by class, so that invisible pages are not counted. */
  #countsOf({ chunks, count }: PostingBuffer): ClassCount[] {
    const { pagesOfChunks } = this.#facts
    const counts = new Map<number, ClassCount>()
    let counted: ClassCount = { class: 0, chunks: 0, pages: 0 }
    let lastPage = 0
    for (let at = 0; at < count; at++) {
      const page = pagesOfChunks[chunks[at] ?? 0] ?? 0
      if (page !== lastPage) {
        counted = counts.getOrInsertComputed(this.#facts.classOf(page), (ofPages) => ({
          class: ofPages,
          chunks: 0,
          pages: 0,
        }))
        counted.pages++
        lastPage = page
      }
      counted.chunks++
    }
    return [...counts.values()]
  }
}

/**
 * An immutable inverted index of complete pages: a sorted dictionary, and the postings of each term with positions. Only the
 * dictionary and the page ids are in memory.
 */
export class Segment {
  readonly shape: SegmentShape
  readonly dictionary: Dictionary
  /** Ascending page ids. */
  readonly pages: Uint32Array
  /** Name of its file; undefined for a segment in memory. */
  readonly name: string | undefined
  readonly #bytes: SegmentBytes

  /** Reads the dictionary and the page ids. @throws {DamagedSegment} */
  constructor(bytes: SegmentBytes, shape: SegmentShape, name?: string) {
    this.#bytes = bytes
    this.shape = shape
    this.name = name
    this.dictionary = new Dictionary(
      bytes.read(shape.dictionaryAt, shape.pagesAt - shape.dictionaryAt),
      shape.termCount,
    )
    const reader = new ByteReader(bytes.read(shape.pagesAt, shape.size - shape.pagesAt))
    let page = 0
    this.pages = Uint32Array.from({ length: shape.pageCount }, () => (page += reader.varint()))
  }

  /** Returns the postings of a term, without positions. */
  docsOf({ offset, docs }: Pick<TermEntry, 'offset' | 'docs'>): Uint8Array {
    return this.#bytes.read(offset, docs)
  }

  /** Returns part of the positions of a term. */
  positionsOf({ offset, docs }: TermEntry, from: number, length: number): Uint8Array {
    return this.#bytes.read(offset + docs + from, length)
  }

  /** Returns the postings of a term with their positions. */
  allOf({ offset, docs, positions }: Omit<TermEntry, 'counts'>): Uint8Array {
    return this.#bytes.read(offset, docs + positions)
  }

  close(): void {
    this.#bytes.close()
  }
}

/** Counts the chunks with a term, in all classes. */
export function chunkCountOf({ counts }: TermEntry): number {
  return counts.reduce((sum, { chunks }) => sum + chunks, 0)
}
