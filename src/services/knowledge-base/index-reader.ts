import { TaskPool } from '../../threads/task-pool.ts'
import type { ReadResult, ReadTask } from './index-reader-worker.ts'

/** Files that are worth the way to a thread. */
const manyFiles = 200
/** The worker has this file's extension: `.ts` in a checkout, `.js` in the built package. */
const worker = new URL(`./index-reader-worker${import.meta.url.slice(-3)}`, import.meta.url)

/** Reads and parses many files for a projection in a thread, while the event loop's own writes the tables. */
export class IndexReader {
  readonly #worthwhile: number
  readonly #pool = new TaskPool<ReadTask, ReadResult>({ worker, timeLimitMs: 120_000, maxTasks: 8 })

  /** @param options.worthwhile the number of files from which on a thread reads them. */
  constructor({ worthwhile = manyFiles }: { worthwhile?: number } = {}) {
    this.#worthwhile = worthwhile
  }

  /** Nothing where a thread is not worth it, or fails: whoever asked then reads the files one by one. */
  async read(task: ReadTask): Promise<ReadResult | undefined> {
    if (task.pages.length + task.records.length < this.#worthwhile) return undefined
    return this.#pool.run(task).catch(() => undefined)
  }

  close(): Promise<void> {
    return this.#pool.close()
  }
}
