/** Maximum milliseconds for which a long task may block other work. */
const sliceMs = 10

/** Milliseconds for a task in a turn in which another has used a slice: enough for most requests. */
const shareMs = 1

/** Time at which the first task began in this turn of the event loop. */
let turnBegan: number | undefined
/** Tasks that wait for their next slice, in order of arrival. */
const waiting: (() => void)[] = []

/**
 * Returns a function that yields to other work at the end of each slice of time. All long tasks of the process take turns, one
 * slice per turn of the event loop, so that other work waits for one slice at most.
 */
export function pauses(): () => Promise<void> {
  let begin = performance.now()
  return async () => {
    const now = performance.now()
    if (now - begin < (now - beginOfTurn(now) < sliceMs ? sliceMs : shareMs)) return
    await nextSlice()
    begin = performance.now()
  }
}

/** Waits for a turn of the event loop in which no other task has a slice. Call it before work that cannot pause and may take that long. */
export async function ownTurn(): Promise<void> {
  const now = performance.now()
  if (now - beginOfTurn(now) < sliceMs) turnBegan = now - sliceMs
  else await nextSlice()
}

function nextSlice(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve)
    if (waiting.length === 1) setImmediate(giveSlice)
  })
}

function beginOfTurn(now: number): number {
  if (turnBegan === undefined) {
    turnBegan = now
    setImmediate(() => {
      turnBegan = undefined
    })
  }
  return turnBegan
}

function giveSlice(): void {
  waiting.shift()?.()
  if (waiting.length > 0) setImmediate(giveSlice)
}
