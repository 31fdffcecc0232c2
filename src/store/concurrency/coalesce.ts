/**
 * Lets many callers share runs of the same work. Whoever calls gets a run that began after the call, so that it sees all
 * that was true then: the first caller's own, or, for all who call during a run, the next.
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
