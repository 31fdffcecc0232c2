/**
 * Runs work every so many milliseconds, one run after another.
 * @returns a function that stops it, and waits for the run in progress, whose signal is aborted
 */
export function repeat(
  milliseconds: number,
  work: (stopping: AbortSignal) => Promise<void>,
  onError: (error: unknown) => void,
): () => Promise<void> {
  const stopping = new AbortController()
  let running = Promise.resolve()
  const run = async () => {
    if (!stopping.signal.aborted) await work(stopping.signal)
  }
  const timer = setInterval(() => {
    running = running.then(run).catch(onError)
  }, milliseconds)
  return async () => {
    clearInterval(timer)
    stopping.abort()
    await running
  }
}
