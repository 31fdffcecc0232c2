import { pipeline, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { GanglionError } from '../../contract/errors.ts'

/**
 * A request's body as it comes, inflated where it is compressed.
 * @param limit bytes, inflated
 * @throws {GanglionError} `unsupported_media_type` for another encoding; while it is read, `payload_too_large` and
 * `malformed_request`
 */
export function readBody({ raw, headers }: FastifyRequest, reply: FastifyReply, limit: number): AsyncGenerator<Buffer> {
  const encoding = headers['content-encoding']?.toLowerCase()
  if (encoding !== undefined && encoding !== 'gzip' && encoding !== 'x-gzip') {
    throw new GanglionError('unsupported_media_type', 'The content encoding is not supported.')
  }
  // The connection has to outlive the reading, for the answer.
  const sent: AsyncIterable<Buffer> = raw.iterator({ destroyOnReturn: false })
  return bounded(encoding === undefined ? sent : inflated(sent), limit, () => {
    // It is too late to tell the client; a connection whose request is not read cannot be used again.
    if (reply.raw.headersSent) raw.destroy()
  })
}

async function* bounded(body: AsyncIterable<Buffer>, limit: number, onFailure: () => void): AsyncGenerator<Buffer> {
  let bytes = 0
  try {
    for await (const chunk of body) {
      bytes += chunk.length
      if (bytes > limit) throw new GanglionError('payload_too_large')
      yield chunk
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
