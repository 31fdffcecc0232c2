import { setImmediate as nextTurn } from 'node:timers/promises'

/** Shared turn that is running now; undefined outside of shared turns. */
let current: object | undefined
let next: Promise<void> | undefined

/**
 * Waits for the next turn of the event loop. All who wait at the same time share it: they continue one after the other before
 * anything else runs. So {@link onceInTurn} reads once for all requests that arrived together.
 */
export function sharedTurn(): Promise<void> {
  next ??= nextTurn().then(() => {
    next = undefined
    current = {}
    // Runs after all promises of this turn have continued.
    process.nextTick(endSharedTurn)
  })
  return next
}

/** Ends the sharing after a write, so that later code in the same turn reads again. */
export function endSharedTurn(): void {
  current = undefined
}

/** Returns a function that reads once per {@link sharedTurn}, and elsewhere each time. */
export function onceInTurn<Value>(read: () => Value): () => Value {
  let turn: object | undefined
  let value: Value
  return () => {
    if (current === undefined || turn !== current) {
      value = read()
      turn = current
    }
    return value
  }
}
