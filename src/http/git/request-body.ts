import { pipeline, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { GanglionError } from '../../contract/errors.ts'

/** Limits of a body, in bytes after inflating: `given` is passed on; `read` is read at all, if the body is not compressed. */
export type BodyLimits = { given: number; read: number }

/** Milliseconds for which the rest of a body that is too large is read and dropped. */
const dropTime = 60_000

/**
 * Returns a request's body as a stream, inflated if it is compressed. Bytes beyond the limit are read and dropped, because a client reads
 * the response only after it has sent everything.
 * @throws {GanglionError} `unsupported_media_type` for another encoding; while it is read, `payload_too_large` and `malformed_request`
 */
export function readBody(
  { raw, headers }: FastifyRequest,
  reply: FastifyReply,
  limits: BodyLimits,
): AsyncGenerator<Buffer> {
  const encoding = headers['content-encoding']?.toLowerCase()
  if (encoding !== undefined && encoding !== 'gzip' && encoding !== 'x-gzip') {
    throw new GanglionError('unsupported_media_type', 'The content encoding is not supported.')
  }
  // The connection must outlive the reading, for the response.
  const sent: AsyncIterable<Buffer> = raw.iterator({ destroyOnReturn: false })
  // Git never compresses a push, and inflating what is dropped would be wasted work.
  const isPlain = encoding === undefined
  const { given } = limits
  return bounded(isPlain ? sent : inflated(sent), isPlain ? limits : { given, read: given }, () => {
    // It is too late for a response, and a connection whose request was not read cannot be reused.
    if (reply.raw.headersSent) raw.destroy()
  })
}

async function* bounded(
  body: AsyncIterable<Buffer>,
  { given, read }: BodyLimits,
  onFailure: () => void,
): AsyncGenerator<Buffer> {
  let bytes = 0
  let dropsUntil: number | undefined
  try {
    for await (const chunk of body) {
      bytes += chunk.length
      if (bytes <= given) {
        yield chunk
        continue
      }
      dropsUntil ??= performance.now() + dropTime
      if (bytes > read || performance.now() > dropsUntil) throw new GanglionError('payload_too_large')
    }
  } catch (error) {
    onFailure()
    throw error
  }
}

async function* inflated(sent: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const gunzip: Readable = pipeline(sent, createGunzip(), () => {})
  try {
    yield* gunzip
  } catch (cause) {
    const isBroken = cause instanceof Error && 'code' in cause && String(cause.code).startsWith('Z_')
    throw isBroken ? new GanglionError('malformed_request', 'The body is not compressed as it says.') : cause
  }
}
