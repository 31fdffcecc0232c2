import type { FastifyRequest, FastifyServerOptions } from 'fastify'

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
