import { lineChanges } from './line-changes.ts'
import { markedBlock } from './marked-block.ts'

/** A block of one page or of both; of one that changed, both are there, and `marked`, if its words can be marked in one. */
export type BlockChange =
  | { type: 'same'; after: string }
  | { type: 'added'; after: string }
  | { type: 'removed'; before: string }
  | { type: 'changed'; before: string; after: string; marked?: string | undefined }

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
      if (old === undefined) blocks.push({ type: 'added', after: block })
      else blocks.push({ type: 'changed', before: old, after: block, marked: markedBlock(old, block) })
    }
  }
  flush()
  return { blocks, isTruncated: Math.max(before.length, after.length) > maxBlocks }
}
