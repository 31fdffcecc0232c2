/** Milliseconds that a long work may keep everything else waiting. */
const sliceMs = 10

/** Milliseconds that a work has in a turn of which others have taken a slice: enough for most requests. */
const shareMs = 1

/** Time at which the first work began in this turn of the event loop. */
let turnBegan: number | undefined
/** Works that wait for their next slice, in the order in which they came. */
const waiting: (() => void)[] = []

/**
 * Lets everything else go on at the end of each slice of time. All long works of the process take turns, one slice in a turn of the
 * event loop, so that others wait for one slice however many works there are, and however many begin in one turn.
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

/** Waits for a turn of the event loop of which no other work has a slice, before work that cannot pause and may take as long. */
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
