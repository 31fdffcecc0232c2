/**
 * Returns the positions (0-based, one in each version) of the lines that occur once in every version and have the same order in all, as in
 * a patience diff. Takes n log n time in the number of lines.
 */
export function anchorsOf(versions: readonly (readonly string[])[]): number[][] {
  const [first = new Map<string, number>(), ...others] = versions.map(uniqueLines)
  const common: number[][] = []
  for (const [line, at] of first) {
    const positions = others.map((other) => other.get(line)).filter((position) => position !== undefined)
    if (positions.length === others.length) common.push([at, ...positions])
  }
  return others.reduce((ordered, _, index) => longestIncreasing(ordered, (at) => at[index + 1] ?? 0), common)
}

/** Counts the occurrences of each line. */
export function countLines(lines: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1)
  return counts
}

function uniqueLines(lines: readonly string[]): Map<string, number> {
  const counts = countLines(lines)
  return new Map(lines.flatMap((line, at): [string, number][] => (counts.get(line) === 1 ? [[line, at]] : [])))
}

/** Returns the longest subsequence with increasing ranks, by patience sorting (Fredman 1975). */
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
