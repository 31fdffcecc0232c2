import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import type { ApiServer } from './api-client.ts'

export type IngestEnd = { status: 'success' | 'failed'; neurons: number; pending: number; error: string | undefined }

const Told = z.object({
  id: z.int(),
  kind: z.string(),
  documentId: z.string().optional(),
  neurons: z.int().default(0),
  pending: z.int().default(0),
  error: z.string().optional(),
})

const retryMs = 2_000

/**
 * Follows how ingests of a knowledge base end, from when it resolves on, until the signal aborts; it goes on where a stream broke off.
 * @returns what waits for the outcome of one Source's ingest, also of one that has ended since.
 * @throws {Error} where the server gives no events
 */
export async function followOutcomes(
  server: ApiServer,
  kb: string,
  signal: AbortSignal,
): Promise<(documentId: string) => Promise<IngestEnd>> {
  const outcomes = new Map<string, PromiseWithResolvers<IngestEnd>>()
  const outcomeOf = (documentId: string) => {
    const outcome = outcomes.get(documentId) ?? Promise.withResolvers<IngestEnd>()
    outcomes.set(documentId, outcome)
    return outcome
  }
  let last: string | undefined
  let open = await openStream(server, kb, last, signal)
  const follow = async () => {
    for (;;) {
      try {
        for await (const { id, data } of parseEvents(open)) {
          last = id ?? last
          const { success, data: told } = Told.safeParse(data)
          if (!success || told.documentId === undefined) continue
          const status =
            told.kind === 'ingest.completed' ? 'success' : told.kind === 'ingest.failed' ? 'failed' : undefined
          if (status === undefined) continue
          const { neurons, pending, error } = told
          outcomeOf(told.documentId).resolve({ status, neurons, pending, error })
        }
      } catch {
        // The connection broke; the log of events keeps what is missed.
      }
      await delay(retryMs, undefined, { signal })
      open = await openStream(server, kb, last, signal).catch(() => emptyStream())
    }
  }
  follow().catch(() => {}) // the signal has aborted
  return (documentId) => outcomeOf(documentId).promise
}

async function openStream(
  { url, key }: ApiServer,
  kb: string,
  last: string | undefined,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array>> {
  const response = await fetch(`${url}/api/v1/events?kb=${encodeURIComponent(kb)}`, {
    headers: { authorization: `Bearer ${key}`, ...(last === undefined ? {} : { 'last-event-id': last }) },
    redirect: 'manual',
    signal,
  })
  if (response.status === 200 && response.body !== null) return response.body
  await response.body?.cancel()
  throw new Error(`${url} gives no events: it answered ${response.status}.`)
}

function emptyStream(): ReadableStream<Uint8Array> {
  return new ReadableStream({ start: (controller) => controller.close() })
}

/** Server-sent events as Ganglion writes them: each field once, on one line. */
async function* parseEvents(
  stream: ReadableStream<Uint8Array>,
): AsyncGenerator<{ id: string | undefined; data: unknown }> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of stream) {
    const events = (text + decoder.decode(chunk, { stream: true })).split('\n\n')
    text = events.pop() ?? ''
    for (const event of events) {
      const field = (name: string) =>
        event
          .split('\n')
          .find((line) => line.startsWith(`${name}: `))
          ?.slice(name.length + 2)
      const data = field('data')
      yield { id: field('id'), data: data === undefined ? undefined : JSON.parse(data) }
    }
  }
}
