import { diff3MergeRegions } from 'node-diff3'
import { anchorsOf, countLines } from '../text/anchors.ts'
import { keepLineEndings, unixLines } from '../text/line-endings.ts'

/** Lines that both sides changed in different ways. Every line ends in a newline, which distinguishes an empty line from no line. */
export type Conflict = {
  /** Line of the current text, from 1. */
  line: number
  base: string
  current: string
  proposed: string
}

export type Merge = { text: string } | { conflicts: Conflict[] }

/** Three versions of the same lines. `offset`: 0-based first line in the current text. */
type Part = { base: string[]; current: string[]; proposed: string[]; offset: number }

/** Maximum steps of one merge: about a tenth of a second. */
const maxWork = 200_000_000

/**
 * Merges three versions by lines: diff3 (Khanna, Kunal and Pierce 2007) between anchors as in a patience diff, which are lines that occur
 * once in each version. The anchors bound the time, since diff3 is cubic in repeated lines such as blank ones. A part between two anchors
 * that exceeds the remaining work becomes one conflict. Line endings are not compared: merged lines have those of the current text,
 * conflicts have LF.
 */
export function mergeText(base: string, current: string, proposed: string): Merge {
  const { text, conflicts } = mergeMarked(base, current, proposed)
  return conflicts.length > 0 ? { conflicts } : { text }
}

/** Marker lines around the sides of a conflict, in the order of git's style `diff3`. */
export const conflictMarks = {
  current: '<<<<<<< main (the page now)',
  base: '||||||| base (before both changes)',
  proposed: '=======',
  end: '>>>>>>> proposed (this change)',
}

/**
 * Merges as {@link mergeText}. Conflicting lines appear in all three versions between markers: the lines of one side alone would revert the
 * other's change.
 */
export function mergeMarked(base: string, current: string, proposed: string): { text: string; conflicts: Conflict[] } {
  if (current === proposed || base === proposed) return { text: current, conflicts: [] }
  if (base === current) return { text: proposed, conflicts: [] }
  if ([base, current, proposed].some((text) => text.includes('\r'))) {
    const { text, conflicts } = mergeMarked(unixLines(base), unixLines(current), unixLines(proposed))
    return { text: keepLineEndings(current, text, proposed.includes('\r\n') ? '\r\n' : '\n'), conflicts }
  }

  const whole = { base: base.split('\n'), current: current.split('\n'), proposed: proposed.split('\n'), offset: 0 }
  const merged: string[][] = []
  const conflicts: Conflict[] = []
  let workLeft = maxWork
  for (const part of splitAtAnchors(whole)) {
    const result = mergeWithin(workLeft, part)
    workLeft -= result.work
    conflicts.push(...result.conflicts)
    merged.push(result.lines)
  }
  return { text: merged.flat().join('\n'), conflicts }
}

/** Merged lines, with markers around conflicts. */
type MergedPart = { lines: string[]; conflicts: Conflict[] }

/** Merges a part if that takes at most `workLeft` steps. Also returns the steps taken. */
function mergeWithin(workLeft: number, part: Part): MergedPart & { work: number } {
  const { base, current, proposed, offset } = part
  if (sameLines(base, proposed) || sameLines(current, proposed)) return { lines: current, conflicts: [], work: 0 }
  if (sameLines(base, current)) return { lines: proposed, conflicts: [], work: 0 }
  const work = workOf(base, current) + workOf(base, proposed)
  if (work > workLeft) return { lines: marked(part), conflicts: [conflict(offset, part)], work: 0 }
  return { ...mergePart(part), work }
}

function mergePart({ base, current, proposed, offset }: Part): MergedPart {
  const lines: string[][] = []
  const conflicts: Conflict[] = []
  for (const region of diff3MergeRegions(current, base, proposed)) {
    if (region.stable) lines.push(region.bufferContent)
    else if (sameLines(region.aContent, region.bContent)) lines.push(region.aContent)
    else {
      const sides = { base: region.oContent, current: region.aContent, proposed: region.bContent }
      lines.push(marked(sides))
      conflicts.push(conflict(offset + region.aStart, sides))
    }
  }
  return { lines: lines.flat(), conflicts }
}

function marked({ base, current, proposed }: Omit<Part, 'offset'>): string[] {
  return [
    ...[conflictMarks.current, ...current, conflictMarks.base, ...base],
    ...[conflictMarks.proposed, ...proposed, conflictMarks.end],
  ]
}

function conflict(offset: number, { base, current, proposed }: Omit<Part, 'offset'>): Conflict {
  const textOf = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join('')
  return { line: offset + 1, base: textOf(base), current: textOf(current), proposed: textOf(proposed) }
}

/** Splits the versions before every anchor. */
function splitAtAnchors(whole: Part): Part[] {
  const { base, current, proposed } = whole
  let from: readonly number[] = []
  return [...anchorsOf([base, current, proposed]), []].map((to) => {
    const part = {
      base: base.slice(from[0], to[0]),
      current: current.slice(from[1], to[1]),
      proposed: proposed.slice(from[2], to[2]),
      offset: from[1] ?? 0,
    }
    from = to
    return part
  })
}

/** Returns an upper bound for the steps of the Hunt-McIlroy diff in diff3: each pair of equal lines scans the matches so far. */
function workOf(base: readonly string[], other: readonly string[]): number {
  const counts = countLines(other)
  const pairs = base.reduce((sum, line) => sum + (counts.get(line) ?? 0), 0)
  return pairs * Math.min(base.length, other.length)
}

function sameLines(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((line, at) => line === b[at])
}
