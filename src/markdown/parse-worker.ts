import { threadId } from 'node:worker_threads'
import { type PageParts, type PageRequest, parsePage } from './parse-page.ts'

/**
 * `started` are two cells of shared memory, set when the work begins: the thread's id, and the CPU time that it has used before, in
 * milliseconds.
 */
export type ParseTask = { requests: PageRequest[]; started: Int32Array<SharedArrayBuffer> }

export function parsePages({ requests, started }: ParseTask): PageParts[] {
  const { user, system } = process.threadCpuUsage()
  Atomics.store(started, 1, (user + system) / 1000)
  Atomics.store(started, 0, threadId)
  Atomics.notify(started, 0)
  return requests.map(parsePage)
}
