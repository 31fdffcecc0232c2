import { checkDeadline, type Deadline } from '../index/term-engine.ts'
import type { TermEntry } from './dictionary.ts'
import { PostingCollector } from './phrase-postings.ts'
import { type ComputedPostings, end, PostingCursor, TermPostings } from './posting-list.ts'
import type { Segment } from './segment.ts'

/** More than a term stands in one chunk. */
const frequencyRoom = 2 ** 21

/** The postings of several terms as if they were one. @throws {SearchTimeout} */
export function anyPostings(
  segment: Segment,
  entries: readonly TermEntry[],
  isVisible: (chunk: number) => boolean,
  deadline: Deadline,
): ComputedPostings {
  const lists = entries.map((entry) => new TermPostings(segment, entry))
  // A chunk and a frequency in one number, so that they can be sorted as numbers are.
  const pairs = new Float64Array(lists.reduce((sum, { count }) => sum + count, 0))
  let count = 0
  for (const list of lists) {
    checkDeadline(deadline)
    for (const cursor = new PostingCursor(list); cursor.chunk !== end; cursor.next()) {
      if (isVisible(cursor.chunk)) pairs[count++] = cursor.chunk * frequencyRoom + cursor.frequency
    }
  }
  const sorted = pairs.subarray(0, count).sort()
  const found = new PostingCollector()
  for (let at = 0; at < count; ) {
    const chunk = Math.floor((sorted[at] ?? 0) / frequencyRoom)
    let frequency = 0
    const limit = (chunk + 1) * frequencyRoom
    for (; at < count && (sorted[at] ?? 0) < limit; at++) frequency += (sorted[at] ?? 0) % frequencyRoom
    found.add(chunk, frequency)
  }
  return found.finish()
}
