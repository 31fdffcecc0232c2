/** Milliseconds that a long work may keep everything else waiting. */
const sliceMs = 10

/** Works that wait for their next slice, in the order in which they came. */
const waiting: (() => void)[] = []

/**
 * Lets everything else go on at the end of each slice of time. All long works of the process take turns, one slice in a turn of the
 * event loop, so that others wait for one slice however many works there are.
 */
export function pauses(): () => Promise<void> {
  let begin = performance.now()
  return async () => {
    if (performance.now() - begin < sliceMs) return
    await new Promise<void>((resolve) => {
      waiting.push(resolve)
      if (waiting.length === 1) setImmediate(giveSlice)
    })
    begin = performance.now()
  }
}

function giveSlice(): void {
  waiting.shift()?.()
  if (waiting.length > 0) setImmediate(giveSlice)
}
