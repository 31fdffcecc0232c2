import { comparedLines, type Hunk, hunksOf, type LineChange, lineChanges, maxLines } from './line-changes.ts'

/** Diff in the format of `diff -u`, from `before` to `after`. Hunks that do not fit are left out; the others are valid patches. */
export type UnifiedDiff = { diff: string; isTruncated: boolean }

const maxSize = 256 * 1024

/**
 * Compares two texts line by line; see {@link lineChanges}.
 * @param before `null`: the text is new.
 */
export function unifiedDiff(before: string | null, after: string): UnifiedDiff {
  const [old, fresh] = [comparedLines(before ?? ''), comparedLines(after)]
  const header = `--- ${before === null ? '/dev/null' : 'before'}\n+++ after\n`
  const changes = lineChanges(old.slice(0, maxLines), fresh.slice(0, maxLines))
  const { text, isTruncated } = formatHunks(hunksOf(changes), maxSize - header.length)
  return { diff: header + text, isTruncated: isTruncated || Math.max(old.length, fresh.length) > maxLines }
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

function fitting(changes: LineChange[], size: number): LineChange[] {
  let left = size - 60
  const end = changes.findIndex(({ line }) => {
    left -= line.length + 2
    return left < 0
  })
  return end < 0 ? changes : changes.slice(0, end)
}

function formatHunk({ oldStart, newStart, changes }: Hunk): string {
  const range = (start: number, sign: LineChange['sign']) => {
    const count = changes.filter((change) => change.sign !== sign).length
    return `${count === 0 ? start - 1 : start},${count}`
  }
  const head = `@@ -${range(oldStart, '+')} +${range(newStart, '-')} @@\n`
  return head + changes.map(({ sign, line }) => `${sign}${line}\n`).join('')
}
