import { EditRows } from '../index/edit-rows.ts'
import { checkDeadline, type Deadline } from '../index/term-engine.ts'
import type { Segment } from './segment.ts'

/**
 * Adds the terms of a segment that a word becomes with at most so many edits; see {@link EditRows}. Terms with a common beginning
 * share its rows, and are passed over together where none of them can be similar.
 * @throws {SearchTimeout}
 */
export function addSimilar(
  { dictionary }: Segment,
  word: string,
  maxEdits: number,
  similar: Set<string>,
  deadline: Deadline,
): void {
  const rows = new EditRows(word, maxEdits)
  let taken = ''
  /** Characters of `taken`, and their bytes, with which no similar term begins. */
  let [dead, deadBytes] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  let steps = 0
  for (const cursor = dictionary.from(new Uint8Array()); cursor.isAt; cursor.next()) {
    if (++steps % 1024 === 0) checkDeadline(deadline)
    if (cursor.shared >= deadBytes) continue
    const term = cursor.text
    const shared = commonLength(term, taken)
    if (shared >= dead) continue
    taken = term
    dead = Number.POSITIVE_INFINITY
    for (let at = shared; at < term.length && dead > term.length; at++) {
      if (!rows.take(at, term.charCodeAt(at))) dead = at + 1
    }
    deadBytes = dead > term.length ? dead : Buffer.byteLength(term.slice(0, dead))
    if (dead > term.length && rows.isWithin(term.length)) similar.add(term)
  }
}

function commonLength(one: string, other: string): number {
  let length = 0
  while (length < one.length && length < other.length && one[length] === other[length]) length++
  return length
}
