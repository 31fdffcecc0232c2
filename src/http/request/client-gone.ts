import type { FastifyReply } from 'fastify'

/**
 * A signal that aborts when the connection ends before the answer does. Fastify's `request.signal` follows the request, which
 * has ended as soon as its body was read.
 */
export function whenClientGone({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController()
  const tell = () => {
    if (!raw.writableFinished) gone.abort()
  }
  if (raw.destroyed) tell()
  else raw.once('close', tell)
  return gone.signal
}
