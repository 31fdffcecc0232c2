/**
 * Runs work periodically, one run after another.
 * @returns a function that stops it, aborts the signal of the run in progress, and waits for it
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
