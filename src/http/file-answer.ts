import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { GanglionError } from '../contract/errors.ts'
import type { SourceContent } from '../services/sources/read-source.ts'

type Range = { first: number; last: number }

/**
 * Answers with a file that a user has uploaded: to be saved, never to be shown, whatever it is. One range of bytes may be asked for
 * (RFC 9110, section 14).
 * @throws {GanglionError} `range_not_satisfiable`
 */
export async function answerFile(
  { method, headers }: FastifyRequest,
  reply: FastifyReply,
  { filename, sha256, size, read }: SourceContent,
): Promise<FastifyReply> {
  const etag = `"${sha256}"`
  const isSame = headers['if-range'] === undefined || headers['if-range'] === etag
  const range = isSame ? readRange(headers.range, size) : undefined
  if (range === 'unsatisfiable') {
    reply.header('content-range', `bytes */${size}`)
    throw new GanglionError('range_not_satisfiable')
  }
  reply.headers({
    'content-type': 'application/octet-stream',
    'content-disposition': contentDisposition(filename),
    'content-security-policy': "sandbox; default-src 'none'",
    'x-content-type-options': 'nosniff',
    'cache-control': 'private, no-cache',
    'accept-ranges': 'bytes',
    etag,
    'content-length': range === undefined ? size : range.last - range.first + 1,
  })
  if (range !== undefined) reply.code(206).header('content-range', `bytes ${range.first}-${range.last}/${size}`)
  return reply.send(method === 'HEAD' ? Readable.from([]) : await read(range))
}

/** What is no single range of bytes is ignored, as RFC 9110 has it. */
function readRange(header: string | undefined, size: number): Range | 'unsatisfiable' | undefined {
  const [, from = '', to = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '') ?? []
  if (from === '' && to === '') return undefined
  const first = from === '' ? Math.max(0, size - Number(to)) : Number(from)
  const last = from === '' || to === '' ? size - 1 : Math.min(Number(to), size - 1)
  if (from !== '' && to !== '' && Number(to) < first) return undefined
  return first > last ? 'unsatisfiable' : { first, last }
}

/** RFC 6266: a name in ASCII for old clients, and the name itself. */
function contentDisposition(filename: string): string {
  const ascii = filename.replace(/[^\x20-\x7e]/g, '_').replace(/["\\%]/g, '_')
  const encoded = encodeURIComponent(filename).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16)}`,
  )
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`
}
