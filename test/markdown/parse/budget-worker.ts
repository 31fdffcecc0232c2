import { type BudgetTask, noteStart } from '../../../src/markdown/pool/budget-pool.ts'

/** Milliseconds of CPU time that a request uses, and that it then waits. */
export type TestRequest = { work: number; wait: number }

export function runRequest({ request: { work, wait }, started }: BudgetTask<TestRequest>): string {
  noteStart(started)
  const begin = process.threadCpuUsage()
  let used = 0
  while (used < work) {
    const { user, system } = process.threadCpuUsage(begin)
    used = (user + system) / 1000
  }
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, wait)
  return 'done'
}
