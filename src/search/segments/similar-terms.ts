import type { Deadline } from '../index/deadline.ts'
import { EditRows } from '../text/edit-rows.ts'
import { isNameTerm, nameSign } from '../text/name-terms.ts'
import type { Segment } from './format/segment.ts'

/**
 * Adds the terms of a segment that a word becomes with at most so many edits; see {@link EditRows}. Terms with a common beginning
 * share its rows, and those between one and the next that can be similar are passed over. A name is similar to names alone.
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
  const beginning = Buffer.from(isNameTerm(word) ? nameSign : '')
  let taken = ''
  let steps = 0
  for (let cursor = dictionary.from(beginning); cursor.beginsWith(beginning); ) {
    if (++steps % 256 === 0) deadline.check()
    const term = cursor.text
    let live = commonLength(term, taken)
    while (live < term.length && rows.take(live, term.charCodeAt(live))) live++
    taken = term.slice(0, live)
    if (live === term.length && rows.isWithin(live)) similar.add(term)
    const next = Buffer.from(rows.after(term, live))
    if (next.length === 0) return
    for (let left = nearby; left > 0 && cursor.isAt && cursor.compareTo(next) < 0; left--) cursor.next()
    if (cursor.isAt && cursor.compareTo(next) < 0) cursor = dictionary.from(next)
  }
}

/** Terms that are passed over one by one before the next is looked for. */
const nearby = 8

/** Adds the terms of a segment that end so, but for names. @throws {SearchTimeout} */
export function addEnding({ dictionary }: Segment, ending: string, found: Set<string>, deadline: Deadline): void {
  const sought = Buffer.from(ending)
  let steps = 0
  for (const cursor = dictionary.from(new Uint8Array()); cursor.isAt; cursor.next()) {
    if (++steps % 1024 === 0) deadline.check()
    const { term } = cursor
    if (!sought.equals(term.subarray(-sought.length)) || isNameTerm(cursor.text)) continue
    found.add(cursor.text)
  }
}

function commonLength(one: string, other: string): number {
  let length = 0
  while (length < one.length && length < other.length && one[length] === other[length]) length++
  return length
}
