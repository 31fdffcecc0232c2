import { diffArrays } from 'diff'
import { comparedLines, type Hunk, hunksOf, type LineChange, lineChanges, maxLines } from './line-changes.ts'

/** A line of one text or of both, with its 1-based numbers. `parts` make up the line, with changed ones marked. */
export type DiffLine = {
  type: 'same' | 'removed' | 'added'
  oldLine: number | null
  newLine: number | null
  parts: DiffPart[]
}

/** Hunks of lines around changes; the lines between are equal. `isTruncated`: there are more changes. */
export type LineDiff = { hunks: DiffLine[][]; isTruncated: boolean }

/** Maximum lines shown, and their characters. */
const maxShown = 2000
const maxSize = 256 * 1024

/**
 * Compares two texts line by line, and the changed lines word by word.
 * @param before `null`: the text is new.
 */
export function lineDiff(before: string | null, after: string): LineDiff {
  const [old, fresh] = [comparedLines(before ?? ''), comparedLines(after)]
  const isTooLong = Math.max(old.length, fresh.length) > maxLines
  const marker = new WordMarker()
  const hunks: DiffLine[][] = []
  let room = { lines: maxShown, size: maxSize }
  for (const hunk of hunksOf(lineChanges(old.slice(0, maxLines), fresh.slice(0, maxLines)))) {
    const changes = fitting(hunk.changes, room)
    if (changes.length > 0) hunks.push(numbered({ ...hunk, changes }, marker))
    if (changes.length < hunk.changes.length) return { hunks, isTruncated: true }
    room = { lines: room.lines - changes.length, size: room.size - sizeOf(changes) }
  }
  return { hunks, isTruncated: isTooLong }
}

function fitting(changes: LineChange[], room: { lines: number; size: number }): LineChange[] {
  const first = changes.slice(0, room.lines)
  let size = 0
  const end = first.findIndex(({ line }) => {
    size += line.length
    return size > room.size
  })
  return end < 0 ? first : first.slice(0, end)
}

function sizeOf(changes: readonly LineChange[]): number {
  return changes.reduce((sum, { line }) => sum + line.length, 0)
}

function numbered({ oldStart, newStart, changes }: Hunk, marker: WordMarker): DiffLine[] {
  const marked = markedWords(changes, marker)
  let [oldLine, newLine] = [oldStart, newStart]
  return changes.map((change, index): DiffLine => {
    const parts = marked.get(index) ?? [{ text: change.line, isChanged: false }]
    if (change.sign === '-') return { type: 'removed', oldLine: oldLine++, newLine: null, parts }
    if (change.sign === '+') return { type: 'added', oldLine: null, newLine: newLine++, parts }
    return { type: 'same', oldLine: oldLine++, newLine: newLine++, parts }
  })
}

/** Pairs removed and added lines in order, to compare their words. */
function markedWords(changes: readonly LineChange[], marker: WordMarker): Map<number, DiffPart[]> {
  const marked = new Map<number, DiffPart[]>()
  for (let start = 0; start < changes.length; ) {
    const added = endOf(changes, start, '-')
    const end = endOf(changes, added, '+')
    for (let pair = 0; pair < Math.min(added - start, end - added); pair++) {
      const words = marker.mark(changes[start + pair]?.line ?? '', changes[added + pair]?.line ?? '')
      if (words === undefined) continue
      marked.set(start + pair, words.before)
      marked.set(added + pair, words.after)
    }
    start = Math.max(end, start + 1)
  }
  return marked
}

function endOf(changes: readonly LineChange[], start: number, sign: LineChange['sign']): number {
  let end = start
  while (changes[end]?.sign === sign) end++
  return end
}

type DiffPart = { text: string; isChanged: boolean }

/** Maximum characters of lines compared by words. */
const maxLine = 4000
/** Maximum words that differ between two lines. */
const maxDistance = 300
/** Maximum sum of characters times distances: about a tenth of a second. */
const maxWork = 5_000_000
/** Minimum share of a line that is equal, for its words to be worth marking. */
const leastCommon = 0.3

const segmenter = new Intl.Segmenter('en', { granularity: 'word' })
const blank = /^\s*$/

/** Marks the words that differ in pairs of lines, within a budget of work. */
class WordMarker {
  #work = maxWork

  /** Returns undefined if the lines have too little in common, or are too long. */
  mark(before: string, after: string): { before: DiffPart[]; after: DiffPart[] } | undefined {
    const size = before.length + after.length
    if (size === 0 || Math.max(before.length, after.length) > maxLine || this.#work <= 0) return undefined
    const found = diffArrays(wordsOf(before), wordsOf(after), { maxEditLength: maxDistance })
    const changed = found?.filter(({ added, removed }) => added || removed).flatMap(({ value }) => value).length
    this.#work -= size * (changed ?? maxDistance)
    if (found === undefined) return undefined
    const common = found.filter(({ added, removed }) => !added && !removed).flatMap(({ value }) => value)
    if (common.filter((word) => !blank.test(word)).join('').length * 2 < leastCommon * size) return undefined
    const side = (other: 'added' | 'removed') =>
      joined(
        found.flatMap((part) =>
          part[other] ? [] : { text: part.value.join(''), isChanged: part.added || part.removed },
        ),
      )
    return { before: side('added'), after: side('removed') }
  }
}

function wordsOf(line: string): string[] {
  return Array.from(segmenter.segment(line), ({ segment }) => segment)
}

/** Marks a blank between two changed words, too. */
function joined(parts: readonly DiffPart[]): DiffPart[] {
  const result: DiffPart[] = []
  for (const [index, part] of parts.entries()) {
    const isBetween = parts[index - 1]?.isChanged && parts[index + 1]?.isChanged && blank.test(part.text)
    const isChanged = part.isChanged || isBetween === true
    const last = result.at(-1)
    if (last?.isChanged === isChanged) last.text += part.text
    else result.push({ text: part.text, isChanged })
  }
  return result
}
