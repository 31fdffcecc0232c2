import { backOff, type Connection, delay, type RequestOptions } from './connection.ts'
import { readMessages } from './messages.ts'
import type { Schemas } from './operation.ts'
import { isTemporary } from './refusals.ts'

/** What happened in a knowledge base. */
export type GanglionEvent = Schemas['Event']

/** Events were missed that the server no longer keeps: read your copy of the knowledge base again. */
export type Gap = { kind: 'gap'; lastEventId: number | null; resumedAfter: number }

export type EventsOptions = {
  /** Slug or UUID of one knowledge base. Default: all of the tenant. */
  kb?: string | undefined
  /** `id` of the last event that you have seen: goes on with the next one. */
  lastEventId?: number | string | undefined
  /** Called when a stream is open: what happens from then on is not missed. */
  onOpen?: (() => void) | undefined
}

/** Follows events without end, and reconnects where a stream broke off. @throws what rejects a new stream for good */
export async function* followEvents(
  connection: Connection,
  { kb, lastEventId, onOpen }: EventsOptions,
  { signal }: Pick<RequestOptions, 'signal'> = {},
): AsyncGenerator<GanglionEvent | Gap, never> {
  let last = lastEventId === undefined ? undefined : String(lastEventId)
  let retry = 2_000
  for (let failures = 0; ; ) {
    try {
      const query = kb === undefined ? {} : { kb }
      const headers: Record<string, string> = last === undefined ? {} : { 'last-event-id': last }
      const sending = { headers, signal, accept: 'text/event-stream' }
      const { response } = await connection.run('get', '/api/v1/events', { query }, sending)
      onOpen?.()
      for await (const message of readMessages(response.body)) {
        failures = 0
        last = message.id ?? last
        retry = message.retry ?? retry
        // `error` is what rejects the next stream, too.
        if (message.data === '' || message.event === 'error') continue
        const data = JSON.parse(message.data)
        yield message.event === 'gap' ? { kind: 'gap', ...data } : data
      }
      await delay(Math.random() * retry, signal)
    } catch (error) {
      signal?.throwIfAborted()
      if (!isTemporary(error)) throw error
      await backOff(error, failures++, signal, retry)
    }
  }
}
