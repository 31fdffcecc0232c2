import { lineChanges } from './line-changes.ts'

/** A block of one page or of both; of one that changed, both are there. */
export type BlockChange =
  | { type: 'same' | 'added'; after: string }
  | { type: 'removed'; before: string }
  | { type: 'changed'; before: string; after: string }

/** `isTruncated`: the pages go on. */
export type BlockDiff = { blocks: BlockChange[]; isTruncated: boolean }

const maxBlocks = 2000

/**
 * Compares two pages block by block. Of blocks that were removed where others were added, the first has become the first, and so
 * on.
 */
export function blockDiff(before: readonly string[], after: readonly string[]): BlockDiff {
  const blocks: BlockChange[] = []
  let removed: string[] = []
  const flush = () => {
    blocks.push(...removed.map((block): BlockChange => ({ type: 'removed', before: block })))
    removed = []
  }
  for (const { sign, line: block } of lineChanges(before.slice(0, maxBlocks), after.slice(0, maxBlocks))) {
    if (sign === '-') removed.push(block)
    else if (sign === ' ') {
      flush()
      blocks.push({ type: 'same', after: block })
    } else {
      const old = removed.shift()
      blocks.push(old === undefined ? { type: 'added', after: block } : { type: 'changed', before: old, after: block })
    }
  }
  flush()
  return { blocks, isTruncated: Math.max(before.length, after.length) > maxBlocks }
}
