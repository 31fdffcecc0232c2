import { diff3MergeRegions } from 'node-diff3'

/** Lines that both sides changed, each in its own way; every line ends in a newline, so that an empty line is not none. */
export type Conflict = {
  /** 1-based, in the current text. */
  line: number
  base: string
  current: string
  proposed: string
}

export type Merge = { text: string } | { conflicts: Conflict[] }

/** Three versions of the same lines, and where they begin in the current text (0-based). */
type Part = { base: string[]; current: string[]; proposed: string[]; offset: number }

/** About a tenth of a second. */
const maxWork = 200_000_000

/**
 * Three-way merge by lines: diff3 (Khanna, Kunal and Pierce 2007), between anchors as in a patience diff: lines that occur once
 * in each version. The anchors keep it quick, since the diff is cubic in lines that repeat, as blank lines do. Between two anchors
 * where it would still take long, the whole part is one conflict.
 */
export function mergeText(base: string, current: string, proposed: string): Merge {
  if (current === proposed || base === proposed) return { text: current }
  if (base === current) return { text: proposed }

  const whole = { base: base.split('\n'), current: current.split('\n'), proposed: proposed.split('\n'), offset: 0 }
  const merged: string[][] = []
  const conflicts: Conflict[] = []
  for (const part of splitAtAnchors(whole)) {
    const result = mergePart(part)
    if ('conflicts' in result) conflicts.push(...result.conflicts)
    else merged.push(result.lines)
  }
  return conflicts.length > 0 ? { conflicts } : { text: merged.flat().join('\n') }
}

function mergePart(part: Part): { lines: string[] } | { conflicts: Conflict[] } {
  const { base, current, proposed, offset } = part
  if (sameLines(base, proposed) || sameLines(current, proposed)) return { lines: current }
  if (sameLines(base, current)) return { lines: proposed }
  if (work(base, current) + work(base, proposed) > maxWork) return { conflicts: [conflict(offset, part)] }

  const lines: string[][] = []
  const conflicts: Conflict[] = []
  for (const region of diff3MergeRegions(current, base, proposed)) {
    if (region.stable) lines.push(region.bufferContent)
    else if (sameLines(region.aContent, region.bContent)) lines.push(region.aContent)
    else {
      const sides = { base: region.oContent, current: region.aContent, proposed: region.bContent }
      conflicts.push(conflict(offset + region.aStart, sides))
    }
  }
  return conflicts.length > 0 ? { conflicts } : { lines: lines.flat() }
}

function conflict(offset: number, { base, current, proposed }: Omit<Part, 'offset'>): Conflict {
  const textOf = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join('')
  return { line: offset + 1, base: textOf(base), current: textOf(current), proposed: textOf(proposed) }
}

/** Cuts the versions before every anchor. */
function splitAtAnchors(whole: Part): Part[] {
  const ends = [...anchors(whole), [whole.base.length, whole.current.length, whole.proposed.length] as const]
  let from: readonly [number, number, number] = [0, 0, 0]
  return ends.map((to) => {
    const part = {
      base: whole.base.slice(from[0], to[0]),
      current: whole.current.slice(from[1], to[1]),
      proposed: whole.proposed.slice(from[2], to[2]),
      offset: from[1],
    }
    from = to
    return part
  })
}

/** Positions of the lines that occur once in each version and stand in the same order in all. */
function anchors({ base, current, proposed }: Part): (readonly [number, number, number])[] {
  const inCurrent = uniqueLines(current)
  const inProposed = uniqueLines(proposed)
  const common: (readonly [number, number, number])[] = []
  for (const [line, at] of uniqueLines(base)) {
    const currentAt = inCurrent.get(line)
    const proposedAt = inProposed.get(line)
    if (currentAt !== undefined && proposedAt !== undefined) common.push([at, currentAt, proposedAt])
  }
  const ordered = longestIncreasing(common, ([, currentAt]) => currentAt)
  return longestIncreasing(ordered, ([, , proposedAt]) => proposedAt)
}

function uniqueLines(lines: readonly string[]): Map<string, number> {
  const counts = countLines(lines)
  return new Map(lines.flatMap((line, at): [string, number][] => (counts.get(line) === 1 ? [[line, at]] : [])))
}

/** Longest subsequence whose ranks increase, by patience sorting (Fredman 1975). */
function longestIncreasing<T>(items: readonly T[], rank: (item: T) => number): T[] {
  type Card = { item: T; rank: number; below: Card | undefined }
  const piles: Card[] = []
  for (const item of items) {
    const card = { item, rank: rank(item) }
    let [low, high] = [0, piles.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((piles[middle]?.rank ?? Number.POSITIVE_INFINITY) < card.rank) low = middle + 1
      else high = middle
    }
    piles[low] = { ...card, below: piles[low - 1] }
  }
  const longest: T[] = []
  for (let card = piles.at(-1); card !== undefined; card = card.below) longest.push(card.item)
  return longest.reverse()
}

/** Upper estimate of the steps that the Hunt-McIlroy diff inside diff3 takes: each pair of equal lines scans the matches so far. */
function work(base: readonly string[], other: readonly string[]): number {
  const counts = countLines(other)
  const pairs = base.reduce((sum, line) => sum + (counts.get(line) ?? 0), 0)
  return pairs * Math.min(base.length, other.length)
}

function countLines(lines: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1)
  return counts
}

function sameLines(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((line, at) => line === b[at])
}
