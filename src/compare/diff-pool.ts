import { TaskFailed, TaskPool } from '../threads/task-pool.ts'
import type { DiffTask } from './diff-worker.ts'
import { type UnifiedDiff, unifiedDiff } from './unified-diff.ts'

/** Characters that are compared without a thread: a few milliseconds, even where every line is changed. */
const soonSize = 1_000
/** The worker has this file's extension: `.ts` in a checkout, `.js` in the built package. */
const worker = new URL(`./diff-worker${import.meta.url.slice(-3)}`, import.meta.url)

/** Compares texts without holding up the event loop: long ones in a thread, one after the other. */
export class DiffPool {
  readonly #pool = new TaskPool<DiffTask, UnifiedDiff>({ worker, timeLimitMs: 10_000, maxTasks: 50 })

  /** See {@link unifiedDiff}. Nothing fits where too many wait, or the thread fails. */
  async diff(before: string | null, after: string): Promise<UnifiedDiff> {
    if ((before?.length ?? 0) + after.length <= soonSize) return unifiedDiff(before, after)
    try {
      return await this.#pool.run({ before, after })
    } catch (error) {
      if (!(error instanceof TaskFailed)) throw error
      return { diff: '', isTruncated: true }
    }
  }

  close(): Promise<void> {
    return this.#pool.close()
  }
}
