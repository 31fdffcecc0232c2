import { unixLines } from '../rules/text/line-endings.ts'
import { TaskFailed, TaskPool } from '../system/task-pool.ts'
import { type BlockDiff, blockDiff } from './block-diff.ts'
import diff, { type DiffResult, type DiffTask } from './diff-worker.ts'
import { type LineDiff, lineDiff } from './line-diff.ts'
import { type UnifiedDiff, unifiedDiff } from './unified-diff.ts'

/** Texts before and after; null if the text is new. */
type Texts = [before: string | null, after: string]

/** Maximum characters compared without a thread: a few milliseconds, even if every line changed. */
const soonSize = 1_000
/** The worker file has the extension of this file: `.ts` in a checkout, `.js` in the built package. */
const worker = new URL(`./diff-worker${import.meta.url.slice(-3)}`, import.meta.url)

/**
 * Compares texts without blocking the event loop: long ones in a thread, one by one. If too many wait, one takes too long, or the
 * thread fails, compares only the start of the first changes and marks the result as truncated.
 */
export class DiffPool {
  readonly #pool = new TaskPool<DiffTask, DiffResult>({ worker, timeLimitMs: 10_000, maxTasks: 50, waitLimitMs: 1_500 })

  async diff(...texts: Texts): Promise<UnifiedDiff> {
    const [before, after] = withUnixLines(texts)
    const size = (before?.length ?? 0) + after.length
    const { unified } = await this.#run({ unified: { before, after } }, size)
    return unified ?? { ...unifiedDiff(...beginnings(before, after)), isTruncated: true }
  }

  async lines(...texts: Texts): Promise<LineDiff> {
    const [before, after] = withUnixLines(texts)
    const size = (before?.length ?? 0) + after.length
    const { lines } = await this.#run({ lines: { before, after } }, size)
    return lines ?? { ...lineDiff(...beginnings(before, after)), isTruncated: true }
  }

  async blocks(before: string[], after: string[]): Promise<BlockDiff> {
    const size = [...before, ...after].reduce((sum, { length }) => sum + length, 0)
    const { blocks } = await this.#run({ blocks: { before, after } }, size)
    return blocks ?? { ...blockDiff(...firstBlocks(before, after)), isTruncated: true }
  }

  async #run(task: DiffTask, size: number): Promise<DiffResult> {
    if (size <= soonSize) return diff(task)
    try {
      return await this.#pool.run(task)
    } catch (error) {
      if (!(error instanceof TaskFailed)) throw error
      return {}
    }
  }

  close(): Promise<void> {
    return this.#pool.close()
  }
}

/** Normalises line endings, which are no changes. */
function withUnixLines([before, after]: Texts): Texts {
  return [before === null ? null : unixLines(before), unixLines(after)]
}

/** Cuts two texts after the first of their changes. */
function beginnings(...[before, after]: Texts): Texts {
  const end = commonLength(before ?? '', after) + soonSize
  return [before === null ? null : before.slice(0, end), after.slice(0, end)]
}

function firstBlocks(before: string[], after: string[]): [string[], string[]] {
  const end = commonLength(before, after) + 1
  return [before.slice(0, end), after.slice(0, end)]
}

function commonLength(before: ArrayLike<string>, after: ArrayLike<string>): number {
  let length = 0
  while (length < Math.min(before.length, after.length) && before[length] === after[length]) length++
  return length
}
