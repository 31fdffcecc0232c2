import { conflictMarks } from '../neurons/merge.ts'
import type { Finding } from '../neurons/neuron.ts'
import { unfencedLines } from '../text/fence.ts'

/** Matches git's conflict markers, in their order. A lone separator may underline a heading. */
const markers = [/^<{7}(?: |$)/, /^={7}$/, /^>{7}(?: |$)/] as const

/**
 * Returns a finding if a page contains an unresolved merge conflict. Two markers in git's order outside of code fences are required, so
 * that an underlined heading or a page about git is no conflict. Ganglion's own markers count anywhere, since Ganglion may write them into
 * code blocks.
 */
export function checkConflictMarkers(text: string): Omit<Finding, 'path'>[] {
  // Spares most pages the scan of their lines.
  if (!text.includes('<<<<<<<') && !text.includes('>>>>>>>')) return []
  const own = text.split(/\r?\n/).findIndex((line) => line === conflictMarks.current || line === conflictMarks.end)
  if (own !== -1) return [finding(own + 1)]
  let seen: { kind: number; number: number } | undefined
  for (const { line, number } of unfencedLines(text)) {
    const kind = markers.findIndex((marker) => marker.test(line))
    if (kind === -1) continue
    if (seen !== undefined && kind > seen.kind) return [finding(seen.number)]
    seen = { kind, number }
  }
  return []
}

function finding(line: number): Omit<Finding, 'path'> {
  const message = 'A conflict of a merge is left in the page: solve it, or put it into a code fence if it is meant.'
  return { rule: 'conflict-marker', severity: 'error', line, message }
}
