import type { Deadline } from '../index/deadline.ts'
import { end, PostingList } from '../rank/posting-list.ts'
import { addPostings } from './format/term-codec.ts'
import type { OpenSegment } from './segment-log.ts'
import type { TermPositions } from './term-postings.ts'

/** Location of a term's postings in a segment, and their number. */
export type TermDocs = { offset: number; docs: number; count: number }

/** Adds up the postings of several terms. Reuses its memory, 4 bytes for each chunk of a segment. */
export class AnyPostings {
  /** Frequencies by chunk, from the first of the segment. All 0 between two calls. */
  #frequencies = new Uint32Array(0)

  /** Returns the postings of several terms as one list. @throws {SearchTimeout} */
  of(
    { segment, windows }: OpenSegment,
    terms: readonly TermDocs[],
    isVisible: (chunk: number) => boolean,
    deadline: Deadline,
  ): PostingList {
    const [first, stop] = [windows[0] ?? 0, windows.at(-1) ?? 0]
    if (this.#frequencies.length < stop - first) this.#frequencies = new Uint32Array(stop - first)
    // Postings of removed pages may lie beyond the end.
    const frequencies = this.#frequencies.subarray(0, stop - first)
    try {
      for (const term of terms) {
        deadline.check()
        addPostings(segment.docsOf(term), term.count, frequencies, first)
      }
      let count = 0
      for (let at = 0; at < frequencies.length; at++) {
        if (frequencies[at] === 0) continue
        if (isVisible(first + at)) count++
        else frequencies[at] = 0
      }
      const [chunks, found] = [new Uint32Array(count), new Uint32Array(count)]
      for (let at = 0, next = 0; next < count; at++) {
        if (frequencies[at] === 0) continue
        chunks[next] = first + at
        found[next++] = frequencies[at] ?? 0
      }
      return new PostingList(chunks, found)
    } finally {
      frequencies.fill(0)
    }
  }
}

/**
 * Returns the chunks with consecutive terms, and how often they occur without overlaps.
 * @param terms in the order of the phrase
 * @throws {SearchTimeout}
 */
export function phrasePostings(
  terms: readonly TermPositions[],
  isVisible: (chunk: number) => boolean,
  deadline: Deadline,
): PostingList {
  const [rarest, ...others] = terms.toSorted((a, b) => a.list.count - b.list.count)
  const [chunks, frequencies]: [number[], number[]] = [[], []]
  let steps = 0
  for (let chunk = rarest?.seek(0) ?? end; chunk !== end; chunk = rarest?.seek(chunk) ?? end) {
    if (++steps % 1024 === 0) deadline.check()
    const furthest = others.reduce((from, term) => term.seek(from), chunk)
    if (furthest !== chunk) {
      chunk = furthest
      continue
    }
    const frequency = isVisible(chunk) ? runs(terms.map((term) => term.positions())) : 0
    if (frequency > 0) {
      chunks.push(chunk)
      frequencies.push(frequency)
    }
    chunk++
  }
  return new PostingList(Uint32Array.from(chunks), Uint32Array.from(frequencies))
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
