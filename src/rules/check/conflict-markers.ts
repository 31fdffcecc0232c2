import { conflictMarks } from '../neurons/merge.ts'
import type { Finding } from '../neurons/neuron.ts'
import { unfencedLines } from '../text/unfenced-lines.ts'

/** Git's markers, in the order in which a conflict has them. A separator alone may underline a heading. */
const markers = [/^<{7}(?: |$)/, /^={7}$/, /^>{7}(?: |$)/] as const

/**
 * Returns the finding for a page in which somebody has left a conflict of a merge. Two markers in git's order are needed, outside of
 * code fences, so that neither an underlined heading nor a page about git is taken for a conflict. Ganglion's own markers count anywhere:
 * it puts them into code blocks, too.
 */
export function checkConflictMarkers(text: string): Omit<Finding, 'path'>[] {
  // Most pages have neither, and half a million lines take long to look at.
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
