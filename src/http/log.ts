import {
  type FastifyBaseLogger,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
  LogController,
} from 'fastify'

export type LogTarget = {
  level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'
  /** Receives one line of JSON at a time; absent: standard output. */
  stream?: { write(line: string): void }
}

/** Joins the lines of one turn of the event loop, since each write to a file is a system call. Remaining lines are written on exit. */
export function joinedPerTurn(stream: { write(text: string): void }): { write(line: string): void } {
  let lines = ''
  const flush = () => {
    if (lines !== '') stream.write(lines)
    lines = ''
  }
  process.on('exit', flush)
  return {
    write(line) {
      if (lines === '') setImmediate(flush)
      lines += line
    },
  }
}

/** Options of Fastify's logger. Headers and query strings are not logged, because they may contain secrets. */
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

/** Logs one line for each answered request, with the ids of its key or person and of the tenant; at level `debug` also when it arrives. */
export class AnsweredRequests extends LogController {
  #log: FastifyBaseLogger | undefined

  override incomingRequest(request: FastifyRequest): void {
    request.log.debug({ req: request }, 'incoming request')
  }

  override requestCompleted(error: Error | null | undefined, request: FastifyRequest, reply: FastifyReply): void {
    const { caller } = request
    const who = caller && { caller: caller.id, tenant: caller.tenantId }
    const answered = { req: request, res: reply, ...who, responseTime: reply.elapsedTime }
    if (error) reply.log.error({ ...answered, err: error }, 'request errored')
    else this.#logOf(request).info({ reqId: request.id, ...answered }, 'request completed')
  }

  /** Skips redaction: the serializers leave no secret in the line, and redaction takes longer than the rest. */
  #logOf({ server }: FastifyRequest): FastifyBaseLogger {
    this.#log ??= server.log.child({}, { redact: [] })
    return this.#log
  }
}
