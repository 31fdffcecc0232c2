import { tracingChannel } from 'node:diagnostics_channel'

/**
 * Work that metrics count and traces show: a request; a change, from its turn in a repository's writer until it is durable; the
 * update of tables to others' commits; an ingest; a request to a model; a mail.
 */
export type ObservedWork = {
  kind: 'request' | 'commit' | 'follow' | 'job' | 'model' | 'mail'
  /** Name for traces, without user text. */
  name: string
  /** Use of a model, such as `chat`; for a mail, `given-up`. */
  use?: string
  attributes?: Record<string, string | number>
  /** Headers of a request, which may name the client's own span. */
  carrier?: object
  /** Start by `performance.now`, if it was before the report. */
  since?: number
  /** True if the work failed without an exception. */
  hasFailed?: boolean
  error?: unknown
}

/** Channel that reports all work except requests to its subscribers. */
export const works = tracingChannel<ObservedWork, unknown>('ganglion.work')

/** Channel that reports requests. Only traces subscribe to it; without subscribers it costs nothing. */
export const requestWorks = tracingChannel<ObservedWork, unknown>('ganglion.request')

export function observed<Result>(work: ObservedWork, run: () => Promise<Result>): Promise<Result> {
  return works.tracePromise(run, work)
}
