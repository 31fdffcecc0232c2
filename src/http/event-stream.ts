import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { GanglionError } from '../contract/errors.ts'
import { whenClientGone } from './client-gone.ts'
import { refusalOf } from './errors.ts'
import type { ZodFastify } from './zod-compilers.ts'

/** A server-sent event; `data` is sent as JSON. `id` and `event` are single lines. */
export type ServerSentEvent = { id?: string; event: string; data: unknown }

const headers = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
  // Else a server that closes waits for the next request on each stream's connection.
  connection: 'close',
}

/** Bytes that wait to be sent, beyond which a client is taken for one that never reads. */
const maxUnsent = 256 * 1024

/** Streams of server-sent events (HTML standard, section 9.2) of one server. */
export class EventStreams {
  readonly #closing = new AbortController()
  readonly #heartbeat: number

  /** @param options `heartbeat`: milliseconds between comments, which keep a quiet connection open. */
  constructor(app: ZodFastify, { heartbeat = 15_000 }: { heartbeat?: number } = {}) {
    this.#heartbeat = heartbeat
    app.addHook('preClose', async () => this.#closing.abort(new GanglionError('unavailable')))
  }

  /** Aborts when the client has gone or was dropped, and with `unavailable` when the server closes. */
  signal(reply: FastifyReply): AbortSignal {
    return AbortSignal.any([whenClientGone(reply), this.#closing.signal])
  }

  /**
   * Answers with the events that `produce` sends until it returns. What it throws becomes an event `error` with the envelope of
   * errors. A client is dropped when it is sent more with 256 KB unread, and what is sent to one that has gone is lost:
   * `produce` should end when the {@link signal} aborts.
   */
  answer(
    request: FastifyRequest,
    reply: FastifyReply,
    produce: (send: (event: ServerSentEvent) => void) => Promise<void>,
  ): FastifyReply {
    const body = new Readable({ read() {} })
    let isOver = false
    const write = (text: string) => {
      if (isOver || body.destroyed) return
      if (body.readableLength + reply.raw.writableLength > maxUnsent) body.destroy()
      else body.push(text)
    }
    const heartbeat = setInterval(() => write(': \n\n'), this.#heartbeat).unref()
    const run = async () => {
      try {
        await produce((event) => write(format(event)))
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
}

function format({ id, event, data }: ServerSentEvent): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
}
