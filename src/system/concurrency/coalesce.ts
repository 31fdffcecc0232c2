/**
 * Lets concurrent callers share runs of the same work. Every caller gets a run that began after the call, so it sees the state at
 * the time of the call. Calls during a run share the next one.
 */
export function coalesce<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<Result> | undefined
  let next: Promise<Result> | undefined
  const start = (): Promise<Result> => {
    next = undefined
    running = work().finally(() => {
      if (next === undefined) running = undefined
    })
    return running
  }
  return () => {
    if (running === undefined) return start()
    next ??= running.then(start, start)
    return next
  }
}
