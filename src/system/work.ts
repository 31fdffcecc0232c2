import { tracingChannel } from 'node:diagnostics_channel'

/**
 * A piece of work that metrics count: a change from its turn in the queue of a repository's writer until it is durable; commits of
 * others that the tables follow; an ingest; a request to a model.
 */
export type ObservedWork = {
  kind: 'commit' | 'follow' | 'job' | 'model'
  /** What a model is asked for, such as `chat`. */
  use?: string
  /** What an answer means that is no exception. */
  hasFailed?: boolean
  error?: unknown
}

/** Who subscribes hears of each piece of work. Without subscribers it costs nothing. */
export const works = tracingChannel<ObservedWork, unknown>('ganglion.work')

export function observed<Result>(work: ObservedWork, run: () => Promise<Result>): Promise<Result> {
  return works.tracePromise(run, work)
}
