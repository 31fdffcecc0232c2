import { tracingChannel } from 'node:diagnostics_channel'

/**
 * A piece of work that metrics count and traces show: a request; a change from its turn in the queue of a repository's writer until
 * it is durable; commits of others that the tables follow; an ingest; a request to a model; a mail.
 */
export type ObservedWork = {
  kind: 'request' | 'commit' | 'follow' | 'job' | 'model' | 'mail'
  /** Name for traces, without text of a user. */
  name: string
  /** Use of a model, such as `chat`; or `given-up`, of a mail. */
  use?: string
  attributes?: Record<string, string | number>
  /** Headers of a request, in which another program may have named its own span. */
  carrier?: object
  /** `performance.now` at its start, if that was before the report. */
  since?: number
  /** True if the work failed without an exception. */
  hasFailed?: boolean
  error?: unknown
}

/** Channel that reports each piece of work but requests to its subscribers. */
export const works = tracingChannel<ObservedWork, unknown>('ganglion.work')

/** Channel that reports each request. Without subscribers, which only traces are, it costs nothing. */
export const requestWorks = tracingChannel<ObservedWork, unknown>('ganglion.request')

export function observed<Result>(work: ObservedWork, run: () => Promise<Result>): Promise<Result> {
  return works.tracePromise(run, work)
}
