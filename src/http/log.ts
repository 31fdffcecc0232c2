import {
  type FastifyBaseLogger,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
  LogController,
} from 'fastify'

export type LogTarget = {
  level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'
  /** Takes one line of JSON; without it, lines go to standard output. */
  stream?: { write(line: string): void }
}

/** Options of Fastify's logger. Headers and query strings, where secrets stray, are not logged. */
export function loggerOptions(target: LogTarget | undefined): NonNullable<FastifyServerOptions['logger']> {
  if (target === undefined) return false
  return {
    ...target,
    redact: ['authorization', 'cookie', '*.authorization', '*.cookie', '*.headers.authorization', '*.headers.cookie'],
    serializers: {
      req: ({ method, url, ip }: FastifyRequest) => ({ method, path: url.split('?', 1)[0], remoteAddress: ip }),
    },
  }
}

/** Writes one line for a request, when it has been answered; at the level `debug` also one when it arrives. */
export class AnsweredRequests extends LogController {
  #log: FastifyBaseLogger | undefined

  override incomingRequest(request: FastifyRequest): void {
    request.log.debug({ req: request }, 'incoming request')
  }

  override requestCompleted(error: Error | null | undefined, request: FastifyRequest, reply: FastifyReply): void {
    const answered = { req: request, res: reply, responseTime: reply.elapsedTime }
    if (error) reply.log.error({ ...answered, err: error }, 'request errored')
    else this.#logOf(request).info({ reqId: request.id, ...answered }, 'request completed')
  }

  /** What the serializers leave of a request holds no secret. To look for one takes longer than the rest of the line. */
  #logOf({ server }: FastifyRequest): FastifyBaseLogger {
    this.#log ??= server.log.child({}, { redact: [] })
    return this.#log
  }
}
