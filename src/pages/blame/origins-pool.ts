import { GanglionError } from '../../contract/errors.ts'
import { TaskFailed, TaskPool } from '../../system/task-pool.ts'
import origins, { type OriginsResult, type OriginsTask } from './origins-worker.ts'

/** Maximum characters of all versions that are compared on the calling thread: a few milliseconds. */
const soonSize = 4_000
const busy =
  'Too many pages are being explained at once, or the history of this page takes too long. Wait a minute, then try again.'
/** The worker has this file's extension: `.ts` in a checkout, `.js` in the built package. */
const worker = new URL(`./origins-worker${import.meta.url.slice(-3)}`, import.meta.url)

/** Finds the origins of sentences in a thread, one page after the other. */
export class OriginsPool {
  readonly #pool = new TaskPool<OriginsTask, OriginsResult>({
    ...{ worker, timeLimitMs: 30_000, maxTasks: 50, waitLimitMs: 20_000 },
  })

  /** @throws {GanglionError} `unavailable` if too many pages wait, or the page's history takes too long */
  async origins(task: OriginsTask): Promise<OriginsResult> {
    if (sizeOf(task) <= soonSize) return origins(task)
    try {
      return await this.#pool.run(task)
    } catch (error) {
      if (error instanceof TaskFailed) throw new GanglionError('unavailable', busy)
      throw error
    }
  }

  close(): Promise<void> {
    return this.#pool.close()
  }
}

function sizeOf({ versions }: OriginsTask): number {
  return versions.reduce((sum, { text }) => sum + text.length, 0)
}
