import { AsyncLocalStorage } from 'node:async_hooks'

const callers = new AsyncLocalStorage<string>()

/** Runs the work of a request, so that it takes turns with those of other callers wherever works wait for each other. */
export function runFor<Result>(caller: string, work: () => Result): Result {
  return callers.run(caller, work)
}

/** Returns the id of the caller whose request the present work is for; empty for the server's own work. */
export function presentCaller(): string {
  return callers.getStore() ?? ''
}
