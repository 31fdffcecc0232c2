import { backOff, type Connection, delay, type RequestOptions } from './connection.ts'
import { readMessages } from './messages.ts'
import type { Schemas } from './operation.ts'
import { isTemporary } from './refusals.ts'

/** Event of a knowledge base. */
export type GanglionEvent = Schemas['Event']

/** Notice that events were missed which the server no longer keeps: read your copy of the knowledge base again. */
export type Gap = { kind: 'gap'; lastEventId: number | null; resumedAfter: number }

export type EventsOptions = {
  /** Slug or UUID of one knowledge base. Default: all knowledge bases of the tenant. */
  kb?: string | undefined
  /** `id` of the last event that you have seen. The stream continues with the next event. */
  lastEventId?: number | string | undefined
  /** Callback for an open stream. Events from then on are not missed. */
  onOpen?: (() => void) | undefined
}

/** Follows events without end, and reconnects after a broken stream. @throws if the server rejects a new stream permanently */
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
        // The server rejects the next stream with the same error, which then throws.
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
