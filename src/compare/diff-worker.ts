import { type BlockDiff, blockDiff } from './block-diff.ts'
import { type LineDiff, lineDiff } from './line-diff.ts'
import { type UnifiedDiff, unifiedDiff } from './unified-diff.ts'

type Texts = { before: string | null; after: string }
/** Texts to compare, and the form of the result. */
export type DiffTask = { unified: Texts } | { lines: Texts } | { blocks: { before: string[]; after: string[] } }
/** The requested form of the result. */
export type DiffResult = { unified?: UnifiedDiff; lines?: LineDiff; blocks?: BlockDiff }

/** Runs in a worker thread, because a long text takes a while. */
export default function diff(task: DiffTask): DiffResult {
  if ('unified' in task) return { unified: unifiedDiff(task.unified.before, task.unified.after) }
  if ('lines' in task) return { lines: lineDiff(task.lines.before, task.lines.after) }
  return { blocks: blockDiff(task.blocks.before, task.blocks.after) }
}
