import type { Deadline } from '../index/deadline.ts'
import type { TermEntry } from './dictionary.ts'
import { PostingCollector } from './phrase-postings.ts'
import { type ComputedPostings, PostingCursor, TermPostings } from './posting-list.ts'
import type { Segment } from './segment.ts'

/** The postings of several terms as if they were one. @throws {SearchTimeout} */
export function anyPostings(
  segment: Segment,
  entries: readonly TermEntry[],
  isVisible: (chunk: number) => boolean,
  deadline: Deadline,
): ComputedPostings {
  const lists = entries.map((entry) => new TermPostings(segment, entry))
  const [first, last] = [
    Math.min(...lists.map(firstOf)),
    Math.max(...lists.map(({ lastChunks }) => lastChunks.at(-1) ?? 0)),
  ]
  const frequencies = new Uint32Array(last - first + 1)
  for (const list of lists) {
    deadline.check()
    list.addFrequencies(frequencies, first)
  }
  const found = new PostingCollector()
  for (let at = 0; at < frequencies.length; at++) {
    const frequency = frequencies[at] ?? 0
    if (frequency > 0 && isVisible(first + at)) found.add(first + at, frequency)
  }
  return found.finish()
}

function firstOf(list: TermPostings): number {
  return new PostingCursor(list).chunk
}
