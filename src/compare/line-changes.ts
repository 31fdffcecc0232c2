import { diffArrays } from 'diff'
import { anchorsOf } from '../rules/text/anchors.ts'

export type LineChange = { sign: ' ' | '-' | '+'; line: string }
export type Hunk = { oldStart: number; newStart: number; changes: LineChange[] }

/** Unchanged lines shown around changed ones. */
const context = 4
export const maxLines = 50_000
/** Maximum sum of squared edit distances: about a quarter of a second. */
const maxWork = 2_500_000

export function comparedLines(text: string): string[] {
  const lines = text.split('\n')
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines
}

/**
 * Compares lines by Myers' algorithm ("An O(ND) Difference Algorithm and Its Variations", 1986), between lines that occur once in
 * each text, as in a patience diff. A part with too large an edit distance counts as removed and added. So the time is linear in
 * the texts, plus a quarter of a second.
 */
export function* lineChanges(old: readonly string[], fresh: readonly string[]): Generator<LineChange> {
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

/** Compares a part. @param maxDistance beyond which all its lines count as changed */
function changesOfPart(
  { old, fresh }: { old: string[]; fresh: string[] },
  maxDistance: number,
): { changes: LineChange[]; distance: number } {
  const signed = (lines: readonly string[], sign: LineChange['sign']) =>
    lines.map((line): LineChange => ({ sign, line }))
  if (old.length === 0 || fresh.length === 0)
    return { changes: [...signed(old, '-'), ...signed(fresh, '+')], distance: 0 }
  const found = diffArrays(old, fresh, { maxEditLength: maxDistance })
  if (found === undefined) return { changes: [...signed(old, '-'), ...signed(fresh, '+')], distance: maxDistance }
  const changes = found.flatMap(({ added, removed, value }) => signed(value, added ? '+' : removed ? '-' : ' '))
  return { changes, distance: changes.filter(({ sign }) => sign !== ' ').length }
}

/** Groups nearby changes, with the lines around them. */
export function* hunksOf(changes: Iterable<LineChange>): Generator<Hunk> {
  let [oldLine, newLine] = [1, 1]
  let above: LineChange[] = []
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
