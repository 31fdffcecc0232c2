import type { FastifyReply } from 'fastify'

/**
 * Returns a signal that aborts if the connection closes before the response is complete. Fastify's `request.signal` follows the
 * request, which has ended as soon as its body was read.
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
