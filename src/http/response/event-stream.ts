import { once } from 'node:events'
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { wholeAnswer } from '../../chat/answer-question.ts'
import { GanglionError } from '../../contract/errors.ts'
import { prefersToJson } from '../request/accept.ts'
import { whenClientGone } from '../request/client-gone.ts'
import type { ZodFastify } from '../zod-compilers.ts'
import { refusalOf } from './error-answer.ts'

/** A server-sent event; `data` is sent as JSON. `id` and `event` are single lines. */
export type ServerSentEvent = { id?: string; event: string; data: unknown }
/** Message by which a client reconnects after `retry` milliseconds, and requests the events after this id. */
export type Resumption = { id: string; retry: number }

type Send = (event: ServerSentEvent | Resumption) => void
/** Waits until the client has read everything sent so far, or until the timeout. */
type Taken = () => Promise<void>

const headers = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
  // Otherwise a closing server would wait for the next request on each stream's connection.
  connection: 'close',
}

/** Maximum unsent bytes. A client with more is considered stalled. */
const maxUnsent = 256 * 1024

/** Streams of server-sent events (HTML standard, section 9.2) of one server. */
export class EventStreams {
  readonly #closing = new AbortController()
  readonly #heartbeat: number
  readonly #patience: number

  /**
   * Creates the streams. @param options in milliseconds. `heartbeat`: between comments, which keep a quiet connection open; `patience`:
   * timeout of a client that does not read
   */
  constructor(app: ZodFastify, { heartbeat = 15_000, patience = 10_000 } = {}) {
    this.#heartbeat = heartbeat
    this.#patience = patience
    app.addHook('preClose', async () => this.#closing.abort(new GanglionError('unavailable')))
  }

  /** Aborts when the client has disconnected or was dropped, and with `unavailable` when the server closes. */
  signal(reply: FastifyReply): AbortSignal {
    return AbortSignal.any([whenClientGone(reply), this.#closing.signal])
  }

  /**
   * Answers with the events that `produce` sends until it returns. An error of `produce` becomes an event `error` with the error body. A
   * client that has more than 256 KB unread is dropped when more is sent. `produce` should end when the {@link signal} aborts, and wait
   * with `taken` if it has much to send.
   */
  answer(
    request: FastifyRequest,
    reply: FastifyReply,
    produce: (send: Send, taken: Taken) => Promise<void>,
  ): FastifyReply {
    const body = new Readable({ read() {} })
    let isOver = false
    const write = (text: string) => {
      if (isOver || body.destroyed) return
      if (body.readableLength + reply.raw.writableLength > maxUnsent) body.destroy()
      else body.push(text)
    }
    const gone = whenClientGone(reply)
    const taken = async () => {
      const signal = AbortSignal.any([gone, AbortSignal.timeout(this.#patience)])
      while (reply.raw.writableNeedDrain && !signal.aborted) await once(reply.raw, 'drain', { signal }).catch(() => {})
    }
    const heartbeat = setInterval(() => write(': \n\n'), this.#heartbeat).unref()
    const run = async () => {
      try {
        await produce((event) => write(format(event)), taken)
      } catch (error) {
        if (!reply.raw.destroyed) write(format({ event: 'error', data: refusalOf(error, request).body }))
      }
      clearInterval(heartbeat)
      isOver = true
      if (!body.destroyed) body.push(null)
    }
    void run()
    return reply.headers(headers).send(body)
  }

  /**
   * Answers with a text as it is made, if the client prefers a stream: events `delta`, then `done` with what `finish` makes of the result.
   * @returns the result, or undefined if the client has a stream, or has disconnected
   */
  async answerText<Result>(
    request: FastifyRequest,
    reply: FastifyReply,
    make: (signal: AbortSignal) => AsyncGenerator<string, Result>,
    finish: (result: Result) => unknown,
  ): Promise<Result | undefined> {
    const isStreamed = prefersToJson('text/event-stream', request.headers.accept)
    const texts = make(isStreamed ? this.signal(reply) : whenClientGone(reply))
    try {
      if (!isStreamed) return await wholeAnswer(texts)
      // An error before the first text is an ordinary error response.
      let step = await texts.next()
      this.answer(request, reply, async (send) => {
        for (; step.done !== true; step = await texts.next()) send({ event: 'delta', data: { text: step.value } })
        send({ event: 'done', data: await finish(step.value) })
      })
    } catch (error) {
      if (!reply.raw.destroyed) throw error
      reply.hijack()
    }
    return undefined
  }
}

function format(event: ServerSentEvent | Resumption): string {
  if ('retry' in event) return `retry: ${event.retry}\nid: ${event.id}\n\n`
  const { id, event: kind, data } = event
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${kind}\ndata: ${JSON.stringify(data)}\n\n`
}
