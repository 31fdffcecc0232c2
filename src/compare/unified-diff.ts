import { diffArrays } from 'diff'
import { anchorsOf } from '../knowledge/anchors.ts'

/** In the format of `diff -u`, from `before` to `after`. What does not fit is left out; the hunks that are there are whole patches. */
export type UnifiedDiff = { diff: string; isTruncated: boolean }

type Change = { sign: ' ' | '-' | '+'; line: string }
/** Lines of two texts; where each begins, 1-based. */
type Hunk = { oldStart: number; newStart: number; changes: Change[] }

/** Unchanged lines that are shown around changed ones. */
const context = 4
/** Lines of each text that are compared. */
const maxLines = 50_000
/** Characters of a diff. */
const maxSize = 256 * 1024
/** Squares of edit distances, in all: about a quarter of a second. */
const maxWork = 2_500_000

/**
 * Compares two texts line by line: between lines that occur once in each, as a patience diff does, by Myers' algorithm ("An O(ND)
 * Difference Algorithm and Its Variations", 1986). A part whose edit distance is too large for the work that is left is told as
 * removed and added. So the time is linear in the texts, and a quarter of a second.
 * @param before `null`: the text is new.
 */
export function unifiedDiff(before: string | null, after: string): UnifiedDiff {
  const [old, fresh] = [linesOf(before ?? ''), linesOf(after)]
  const header = `--- ${before === null ? '/dev/null' : 'before'}\n+++ after\n`
  const changes = changesBetween(old.slice(0, maxLines), fresh.slice(0, maxLines))
  const { text, isTruncated } = formatHunks(hunksOf(changes), maxSize - header.length)
  return { diff: header + text, isTruncated: isTruncated || Math.max(old.length, fresh.length) > maxLines }
}

function linesOf(text: string): string[] {
  const lines = text.split('\n')
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines
}

function* changesBetween(old: readonly string[], fresh: readonly string[]): Generator<Change> {
  let work = maxWork
  let from: readonly number[] = []
  for (const to of [...anchorsOf([old, fresh]), []]) {
    const part = { old: old.slice(from[0], to[0]), fresh: fresh.slice(from[1], to[1]) }
    const { changes, distance } = changesOfPart(part, Math.floor(Math.sqrt(work)))
    yield* changes
    work -= distance ** 2
    from = to
  }
}

/** @param maxDistance beyond which all lines of the part are told as changed. */
function changesOfPart(
  { old, fresh }: { old: string[]; fresh: string[] },
  maxDistance: number,
): { changes: Change[]; distance: number } {
  const signed = (lines: readonly string[], sign: Change['sign']) => lines.map((line): Change => ({ sign, line }))
  if (old.length === 0 || fresh.length === 0)
    return { changes: [...signed(old, '-'), ...signed(fresh, '+')], distance: 0 }
  const found = diffArrays(old, fresh, { maxEditLength: maxDistance })
  if (found === undefined) return { changes: [...signed(old, '-'), ...signed(fresh, '+')], distance: maxDistance }
  const changes = found.flatMap(({ added, removed, value }) => signed(value, added ? '+' : removed ? '-' : ' '))
  return { changes, distance: changes.filter(({ sign }) => sign !== ' ').length }
}

/** Changes that are near each other, with the lines around them. */
function* hunksOf(changes: Iterable<Change>): Generator<Hunk> {
  let [oldLine, newLine] = [1, 1]
  let above: Change[] = []
  let hunk: Hunk | undefined
  let unchanged = 0
  for (const change of changes) {
    if (change.sign !== ' ') {
      hunk ??= { oldStart: oldLine - above.length, newStart: newLine - above.length, changes: above }
      unchanged = 0
    } else unchanged++
    hunk?.changes.push(change)
    if (hunk !== undefined && unchanged > 2 * context) {
      yield { ...hunk, changes: hunk.changes.slice(0, context - unchanged) }
      hunk = undefined
    }
    if (hunk === undefined) above = [...above, change].slice(-context)
    else above = []
    if (change.sign !== '+') oldLine++
    if (change.sign !== '-') newLine++
  }
  if (hunk === undefined) return
  yield { ...hunk, changes: unchanged > context ? hunk.changes.slice(0, context - unchanged) : hunk.changes }
}

function formatHunks(hunks: Iterable<Hunk>, size: number): { text: string; isTruncated: boolean } {
  let text = ''
  for (const hunk of hunks) {
    const kept = fitting(hunk.changes, size - text.length)
    if (kept.length > 0) text += formatHunk({ ...hunk, changes: kept })
    if (kept.length < hunk.changes.length) return { text, isTruncated: true }
  }
  return { text, isTruncated: false }
}

/** The first lines of a hunk, as many as fit with its header. */
function fitting(changes: Change[], size: number): Change[] {
  let left = size - 60
  const end = changes.findIndex(({ line }) => {
    left -= line.length + 2
    return left < 0
  })
  return end < 0 ? changes : changes.slice(0, end)
}

function formatHunk({ oldStart, newStart, changes }: Hunk): string {
  const range = (start: number, sign: Change['sign']) => {
    const count = changes.filter((change) => change.sign !== sign).length
    return `${count === 0 ? start - 1 : start},${count}`
  }
  const head = `@@ -${range(oldStart, '+')} +${range(newStart, '-')} @@\n`
  return head + changes.map(({ sign, line }) => `${sign}${line}\n`).join('')
}
