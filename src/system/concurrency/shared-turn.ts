import { setImmediate as nextTurn } from 'node:timers/promises'

/** The shared turn that runs now; undefined in all other work. */
let current: object | undefined
let next: Promise<void> | undefined

/**
 * Waits for the next turn of the event loop, which all who wait at the same time share: they continue one after the other before
 * anything else runs. So what {@link onceInTurn} reads is read once for all requests that arrived together, and after each of them
 * arrived.
 */
export function sharedTurn(): Promise<void> {
  next ??= nextTurn().then(() => {
    next = undefined
    current = {}
    // Runs once no promise is left to continue.
    process.nextTick(endSharedTurn)
  })
  return next
}

/** Ends the sharing after a write: all that run later in the same turn read again. */
export function endSharedTurn(): void {
  current = undefined
}

/** @returns the same read, which in a {@link sharedTurn} reads once, and elsewhere each time */
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
