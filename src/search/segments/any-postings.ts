import type { Deadline } from '../index/deadline.ts'
import { addPostings } from './format/term-codec.ts'
import { ComputedPostings } from './postings/posting-list.ts'
import type { OpenSegment } from './segment-log.ts'

/** Location of a term's postings in a segment, and their number. */
export type TermDocs = { offset: number; docs: number; count: number }

/** 1 for each visible page, by id; and the page of each chunk. */
type Seen = { pages: Uint8Array; pagesOfChunks: Uint32Array }

/** Adds up the postings of several terms. Reuses its memory, 12 bytes for each chunk of a segment. */
export class AnyPostings {
  /** Frequencies by chunk, from the first of the segment. All 0 between two calls. */
  #frequencies = new Uint32Array(0)
  /** Results not yet copied out. */
  #chunks = new Uint32Array(0)
  #found = new Uint32Array(0)

  /** Returns the postings of several terms as one list. @throws {SearchTimeout} */
  of({ segment, windows }: OpenSegment, terms: readonly TermDocs[], seen: Seen, deadline: Deadline): ComputedPostings {
    const [first, end] = [windows[0] ?? 0, windows.at(-1) ?? 0]
    this.#grow(end - first)
    // Postings of removed pages may lie beyond the end.
    const frequencies = this.#frequencies.subarray(0, end - first)
    try {
      for (const term of terms) {
        deadline.check()
        addPostings(segment.docsOf(term), term.count, frequencies, first)
      }
      return this.#collected(frequencies, first, seen)
    } finally {
      frequencies.fill(0)
    }
  }

  #collected(frequencies: Uint32Array, first: number, { pages, pagesOfChunks }: Seen): ComputedPostings {
    const [chunks, found] = [this.#chunks, this.#found]
    let count = 0
    for (let at = 0; at < frequencies.length; at++) {
      const frequency = frequencies[at] ?? 0
      if (frequency === 0 || pages[pagesOfChunks[first + at] ?? 0] !== 1) continue
      chunks[count] = first + at
      found[count++] = frequency
    }
    return new ComputedPostings(chunks.slice(0, count), found.slice(0, count))
  }

  #grow(length: number): void {
    if (this.#frequencies.length >= length) return
    this.#frequencies = new Uint32Array(length)
    this.#chunks = new Uint32Array(length)
    this.#found = new Uint32Array(length)
  }
}
