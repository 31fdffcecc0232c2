import type { Deadline } from '../index/deadline.ts'
import type { TermEntry } from './format/dictionary.ts'
import { chunkCountOf } from './format/segment.ts'
import { addPostings } from './format/term-codec.ts'
import { ComputedPostings } from './postings/posting-list.ts'
import type { OpenSegment } from './segment-log.ts'

/** Adds up the postings of several terms. Keeps its memory, 4 bytes for each chunk of a segment, from query to query. */
export class AnyPostings {
  /** By chunk, from the first of the segment on. All 0 between two calls. */
  #frequencies = new Uint32Array(0)

  /** The postings of several terms as if they were one. @throws {SearchTimeout} */
  of(
    { segment, windows }: OpenSegment,
    entries: readonly TermEntry[],
    isVisible: (chunk: number) => boolean,
    deadline: Deadline,
  ): ComputedPostings {
    const [first, end] = [windows[0] ?? 0, windows.at(-1) ?? 0]
    if (this.#frequencies.length < end - first) this.#frequencies = new Uint32Array(end - first)
    const frequencies = this.#frequencies.subarray(0, end - first)
    let postings = 0
    try {
      for (const entry of entries) {
        deadline.check()
        const count = chunkCountOf(entry)
        addPostings(segment.docsOf(entry), count, frequencies, first)
        postings += count
      }
      return collected(frequencies, first, postings, isVisible)
    } finally {
      frequencies.fill(0)
    }
  }
}

/** @param most how many there are at most */
function collected(
  frequencies: Uint32Array,
  first: number,
  most: number,
  isVisible: (chunk: number) => boolean,
): ComputedPostings {
  const size = Math.min(most, frequencies.length)
  const [chunks, found] = [new Uint32Array(size), new Uint32Array(size)]
  let count = 0
  for (let at = 0; at < frequencies.length; at++) {
    const frequency = frequencies[at] ?? 0
    if (frequency === 0 || !isVisible(first + at)) continue
    chunks[count] = first + at
    found[count++] = frequency
  }
  return new ComputedPostings(chunks.subarray(0, count), found.subarray(0, count))
}
