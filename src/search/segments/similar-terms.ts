import type { Deadline } from '../index/deadline.ts'
import { EditRows } from '../text/edit-rows.ts'
import { isNameTerm, nameSign } from '../text/name-terms.ts'
import type { Segment } from './format/segment.ts'

/**
 * Adds the terms of a segment that a word becomes with at most so many edits; see {@link EditRows}. Terms with a common beginning
 * share its rows, and are passed over together where none of them can be similar. A name is similar to names alone.
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
  const beginning = Buffer.from(isNameTerm(word) ? nameSign : '')
  let cursor = dictionary.from(beginning)
  for (; cursor.beginsWith(beginning); cursor.next()) {
    // Where very many terms begin so, they are not even looked at.
    while (deadBytes <= shortBeginning && cursor.shared >= deadBytes && cursor.isAt) {
      cursor = dictionary.from(Buffer.concat([cursor.term.subarray(0, deadBytes), afterAll]))
    }
    if (!cursor.beginsWith(beginning)) break
    if (++steps % 1024 === 0) deadline.check()
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

/** Bytes of a beginning that so many terms share that it pays to look for the first one behind them. */
const shortBeginning = 3
/** Comes after every byte of UTF-8. */
const afterAll = Uint8Array.of(0xff)

function commonLength(one: string, other: string): number {
  let length = 0
  while (length < one.length && length < other.length && one[length] === other[length]) length++
  return length
}
