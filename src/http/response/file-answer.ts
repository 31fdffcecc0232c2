import { Readable } from 'node:stream'
import { create as contentDisposition } from 'content-disposition'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { GanglionError } from '../../contract/errors.ts'
import { type FileContent, savedFileType } from '../../contract/files.ts'
import { isNamed } from './etag.ts'

type Range = { first: number; last: number }

/**
 * Content security policies of files: nothing in them may load or run. PDF is not sandboxed, because browsers' PDF viewers do not
 * work in a sandbox.
 */
const pdfPolicy = "default-src 'none'; object-src 'self'; style-src 'unsafe-inline'"
const sandbox = "sandbox; default-src 'none'; style-src 'unsafe-inline'"

/**
 * Answers with a file. Browsers save types that are not in `shownFileTypes`, and never show them. Supports one range of bytes
 * (RFC 9110, section 14) and conditional requests.
 * @throws {GanglionError} `range_not_satisfiable`
 */
export async function answerFile(
  { method, headers }: FastifyRequest,
  reply: FastifyReply,
  { filename, etag: tag, size, type, read }: FileContent,
): Promise<FastifyReply> {
  const etag = `"${tag}"`
  const isSaved = type === savedFileType
  reply.headers({
    'content-security-policy': type === 'application/pdf' ? pdfPolicy : sandbox,
    'x-content-type-options': 'nosniff',
    'cache-control': 'private, no-cache',
    etag,
  })
  if (isNamed(headers['if-none-match'], etag)) return reply.code(304).send()
  const isSame = headers['if-range'] === undefined || headers['if-range'] === etag
  const range = isSame ? readRange(headers.range, size) : undefined
  if (range === 'unsatisfiable') {
    reply.header('content-range', `bytes */${size}`)
    throw new GanglionError('range_not_satisfiable')
  }
  reply.headers({
    'content-type': type,
    'content-disposition': contentDisposition(filename, { type: isSaved ? 'attachment' : 'inline' }),
    'accept-ranges': 'bytes',
    'content-length': range === undefined ? size : range.last - range.first + 1,
  })
  if (range !== undefined) reply.code(206).header('content-range', `bytes ${range.first}-${range.last}/${size}`)
  return reply.send(method === 'HEAD' || size === 0 ? Readable.from([]) : await read(range))
}

/** Returns the requested range. Ignores anything but a single range of bytes, as RFC 9110 allows. */
function readRange(header: string | undefined, size: number): Range | 'unsatisfiable' | undefined {
  const [, from = '', to = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '') ?? []
  if (from === '' && to === '') return undefined
  const first = from === '' ? Math.max(0, size - Number(to)) : Number(from)
  const last = from === '' || to === '' ? size - 1 : Math.min(Number(to), size - 1)
  if (from !== '' && to !== '' && Number(to) < first) return undefined
  return first > last ? 'unsatisfiable' : { first, last }
}
