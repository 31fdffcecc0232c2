import { type PageParts, type PageRequest, parsePage } from './parse-page.ts'

/** `started` is one cell of shared memory, set when the work begins, so that the wait for a thread is not counted. */
export type ParseTask = { requests: PageRequest[]; started: Int32Array<SharedArrayBuffer> }

export function parsePages({ requests, started }: ParseTask): PageParts[] {
  Atomics.store(started, 0, 1)
  Atomics.notify(started, 0)
  return requests.map(parsePage)
}
