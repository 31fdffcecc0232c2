import { threadId } from 'node:worker_threads'

/**
 * Requests for a worker. `started`: two cells of shared memory that are set when the work begins, to the thread's id and the CPU time that
 * it has used before, in milliseconds.
 */
export type BudgetTask<Request> = { requests: readonly Request[]; started: Int32Array<SharedArrayBuffer> }

/** Records in a worker that a task begins. */
export function noteStart(started: Int32Array<SharedArrayBuffer>): void {
  const { user, system } = process.threadCpuUsage()
  Atomics.store(started, 1, (user + system) / 1000)
  Atomics.store(started, 0, threadId)
  Atomics.notify(started, 0)
}
