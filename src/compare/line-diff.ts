import { comparedLines, type Hunk, hunksOf, type LineChange, lineChanges, maxLines } from './line-changes.ts'
import { type DiffPart, WordMarker } from './word-marker.ts'

/** A line of one text or of both, with its 1-based numbers; `parts` make the line, those that changed are marked. */
export type DiffLine = {
  type: 'same' | 'removed' | 'added'
  oldLine: number | null
  newLine: number | null
  parts: DiffPart[]
}

/** Hunks of lines around changes; between them stands what is the same. `isTruncated`: there are more changes. */
export type LineDiff = { hunks: DiffLine[][]; isTruncated: boolean }

/** Lines that are shown, and characters of them. */
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

/** Of lines that were removed where others were added, the first is compared with the first, and so on. */
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
