import { Piscina } from 'piscina'
import type { DiffTask } from './diff-worker.ts'
import { type UnifiedDiff, unifiedDiff } from './unified-diff.ts'

/** Milliseconds that a diff may wait and take. */
const timeLimit = 10_000
const heapLimitMb = 256
const idleTimeout = 30_000
const maxWaiting = 50
const nothing: UnifiedDiff = { diff: '', isTruncated: true }
/** Characters that are compared without a thread: a few milliseconds, even where every line is changed. */
const soonSize = 1_000
/** The worker has this file's extension: `.ts` in a checkout, `.js` in the built package. */
const workerFile = new URL(`./diff-worker${import.meta.url.slice(-3)}`, import.meta.url)

/** Compares texts without holding up the event loop: long ones in a thread, one after the other. */
export class DiffPool {
  #pool: Piscina<DiffTask, UnifiedDiff> | undefined
  #waiting = 0
  #isClosed = false

  /** See {@link unifiedDiff}. Nothing fits where too many wait, or the thread fails. */
  async diff(before: string | null, after: string): Promise<UnifiedDiff> {
    if ((before?.length ?? 0) + after.length <= soonSize) return unifiedDiff(before, after)
    if (this.#isClosed || this.#waiting >= maxWaiting) return nothing
    this.#pool ??= startPool()
    this.#waiting++
    try {
      return await this.#pool.run({ before, after }, { signal: AbortSignal.timeout(timeLimit) })
    } catch {
      return nothing
    } finally {
      this.#waiting--
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#pool?.destroy()
  }
}

function startPool(): Piscina<DiffTask, UnifiedDiff> {
  const pool = new Piscina<DiffTask, UnifiedDiff>({
    filename: workerFile.href,
    minThreads: 0,
    maxThreads: 1,
    idleTimeout,
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: heapLimitMb },
  })
  // A thread that dies with a task rejects the task; one that dies idle is replaced when needed, and nobody waits for it.
  pool.on('error', () => undefined)
  return pool
}
