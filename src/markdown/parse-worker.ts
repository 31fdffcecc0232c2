import type { WikiLink } from '../knowledge/neuron.ts'
import { extractLinks } from './links.ts'

/** `started` is one cell of shared memory, set when the work begins, so that the wait for a thread is not counted. */
export type LinkTask = { contents: string[]; started: Int32Array<SharedArrayBuffer> }

export function linksOf({ contents, started }: LinkTask): WikiLink[][] {
  Atomics.store(started, 0, 1)
  Atomics.notify(started, 0)
  return contents.map(extractLinks)
}
