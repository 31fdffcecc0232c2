import { setImmediate as nextTurn } from 'node:timers/promises'

/** For so long a long work may keep everything else waiting, in milliseconds. */
const sliceMs = 10

/** Lets everything else go on at the end of each slice of time. */
export function pauses(): () => Promise<void> {
  let begin = performance.now()
  return async () => {
    if (performance.now() - begin < sliceMs) return
    await nextTurn()
    begin = performance.now()
  }
}
