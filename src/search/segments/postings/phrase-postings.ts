import { ByteReader, grown } from '../../bytes/byte-writer.ts'
import type { Deadline } from '../../index/deadline.ts'
import type { TermEntry } from '../format/dictionary.ts'
import type { Segment } from '../format/segment.ts'
import { ComputedPostings, end, PostingCursor, type TermPostings } from './posting-list.ts'

/** Minimum bytes of positions to read at once. */
const readAhead = 64 * 1024

class PostingCollector {
  #chunks = new Uint32Array(256)
  #frequencies = new Uint32Array(256)
  #count = 0

  add(chunk: number, frequency: number): void {
    if (this.#count === this.#chunks.length) {
      this.#chunks = grown(this.#chunks, this.#count + 1)
      this.#frequencies = grown(this.#frequencies, this.#count + 1)
    }
    this.#chunks[this.#count] = chunk
    this.#frequencies[this.#count++] = frequency
  }

  finish(): ComputedPostings {
    return new ComputedPostings(this.#chunks.slice(0, this.#count), this.#frequencies.slice(0, this.#count))
  }
}

/**
 * Returns the chunks with consecutive terms, and how often they occur without overlaps.
 * @param terms in the order of the phrase
 * @throws {SearchTimeout}
 */
export function phrasePostings(
  terms: readonly PositionCursor[],
  isVisible: (chunk: number) => boolean,
  deadline: Deadline,
): ComputedPostings {
  const rarestFirst = terms.toSorted((a, b) => a.cursor.list.count - b.cursor.list.count)
  const [rarest] = rarestFirst
  const found = new PostingCollector()
  let steps = 0
  for (let chunk = rarest?.cursor.chunk ?? end; chunk !== end; ) {
    if (++steps % 1024 === 0) deadline.check()
    let furthest = chunk
    for (const { cursor } of rarestFirst) {
      if (cursor.chunk < furthest) cursor.seek(furthest)
      if (cursor.chunk > furthest) furthest = cursor.chunk
      if (furthest > chunk) break
    }
    if (furthest === chunk) {
      const frequency = isVisible(chunk) ? runs(terms.map((term) => term.positions())) : 0
      if (frequency > 0) found.add(chunk, frequency)
      furthest = chunk + 1
    }
    if (furthest === end) break
    rarest?.cursor.seek(furthest)
    chunk = rarest?.cursor.chunk ?? end
  }
  return found.finish()
}

/** Counts runs of consecutive positions, without overlaps. */
function runs(lists: readonly (readonly number[])[]): number {
  const [first = [], ...others] = lists
  const sets = others.map((positions) => new Set(positions))
  let count = 0
  let free = 0
  for (const position of first) {
    if (position < free || !sets.every((positions, index) => positions.has(position + index + 1))) continue
    count++
    free = position + lists.length
  }
  return count
}

/** A cursor that also reads the positions of the term. */
export class PositionCursor {
  readonly cursor: PostingCursor
  readonly #segment: Segment
  readonly #entry: TermEntry
  readonly #list: TermPostings
  #bytes: Uint8Array = new Uint8Array()
  #from = 0
  /** Posting of the block whose positions are next. */
  #block = -1
  #index = 0
  #reader = new ByteReader(new Uint8Array())

  constructor(segment: Segment, entry: TermEntry, list: TermPostings) {
    this.#segment = segment
    this.#entry = entry
    this.#list = list
    this.cursor = new PostingCursor(list)
  }

  /** Returns the positions in the current chunk. */
  positions(): number[] {
    const { block, index, frequency } = this.cursor
    const { frequencies } = this.#list
    if (block !== this.#block || index < this.#index) this.#toBlock(block)
    for (; this.#index < index; this.#index++) this.#reader.skip(frequencies[this.#index] ?? 0)
    this.#index++
    let position = 0
    return Array.from({ length: frequency }, () => (position += this.#reader.varint()))
  }

  #toBlock(block: number): void {
    const start = this.#list.positionStarts[block] ?? 0
    const stop = this.#list.positionStarts[block + 1] ?? 0
    if (start < this.#from || stop > this.#from + this.#bytes.length) {
      const length = Math.min(Math.max(stop - start, readAhead), this.#entry.positions - start)
      this.#bytes = this.#segment.positionsOf(this.#entry, start, length)
      this.#from = start
    }
    this.#reader = new ByteReader(this.#bytes, start - this.#from)
    this.#block = block
    this.#index = this.cursor.start
  }
}
