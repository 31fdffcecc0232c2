/** Something that a client did to the head of a branch. Times are of one clock. */
export type HeadOperation = {
  kind: 'write' | 'read'
  /** The commit that it added, or that it was told is the head. */
  commit: string
  start: number
  /** Infinity where no answer came. */
  end: number
}

type Placed = HeadOperation & { key: number }

/**
 * Whether a history of a branch's head is linearizable (Herlihy, Wing 1990): each operation took effect at one moment between its
 * start and its end. Which write came after which is known, since each commit names the one before it. So the check takes
 * O(n log n), as for every register whose order of writes and map of reads are known (Gibbons, Korach, "Testing Shared Memories", 1997).
 * @param line all commits of the branch, the oldest first
 * @returns what is wrong; empty where the history is linearizable
 */
export function headProblems(line: readonly string[], operations: readonly HeadOperation[]): string[] {
  const positions = new Map(line.map((commit, position) => [commit, position]))
  const lost = operations.filter(({ commit, end }) => end < Infinity && !positions.has(commit))
  const placed: Placed[] = onceEach(operations).flatMap((operation) => {
    const position = positions.get(operation.commit)
    return position === undefined ? [] : [{ ...operation, key: 2 * position + (operation.kind === 'read' ? 1 : 0) }]
  })
  placed.sort((a, b) => a.key - b.key)
  const problems = lost.map(({ kind, commit }) => `a ${kind} of ${commit}, which is not on the branch`)
  let latest: Placed | undefined
  for (let at = 0, end = 0; at < placed.length; at = end) {
    // Reads of one commit may take effect in any order.
    while (placed[end]?.key === placed[at]?.key) end++
    const same = placed.slice(at, end)
    for (const operation of same) {
      if (latest === undefined || operation.end >= latest.start) continue
      problems.push(`${told(operation)} ended before ${told(latest)} began, which was of an earlier state`)
    }
    for (const operation of same) if (latest === undefined || operation.start > latest.start) latest = operation
  }
  return problems
}

/** A write that is asked for again is answered with the same commit: it took effect before the first answer. */
function onceEach(operations: readonly HeadOperation[]): HeadOperation[] {
  const writes = new Map<string, HeadOperation>()
  for (const operation of operations) {
    if (operation.kind !== 'write') continue
    const { commit, start, end } = operation
    const known = writes.get(commit) ?? operation
    writes.set(commit, { ...known, start: Math.min(known.start, start), end: Math.min(known.end, end) })
  }
  return [...writes.values(), ...operations.filter(({ kind }) => kind === 'read')]
}

function told({ kind, commit, start, end }: HeadOperation): string {
  return `the ${kind} of ${commit} (${Math.round(start)}–${Math.round(end)})`
}
