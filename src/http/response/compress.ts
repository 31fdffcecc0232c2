import { promisify } from 'node:util'
import { brotliCompress, brotliCompressSync, constants, gzip, gzipSync } from 'node:zlib'
import { negotiate } from '@fastify/accept-negotiator'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'

/** Minimum characters of a compressed answer. */
const minLength = 1024
/** Matches media types to compress: the API's texts and the widget's script, but no pages or event streams. */
const compressible = /^(?:application\/json|text\/(?:plain|markdown|javascript))\b/
const codings = ['br', 'gzip'] as const
/** Maximum bytes of cached compressed answers, which are cached by `ETag`. */
const maxKept = 16 * 2 ** 20
/** Maximum characters that are compressed in this thread: passing them to another would take longer. */
const maxInPlace = 8192
const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }
const compressors = {
  br: (text: string) => (isShort(text) ? brotliCompressSync(text, brotli) : promisify(brotliCompress)(text, brotli)),
  gzip: (text: string) => (isShort(text) ? gzipSync(text) : promisify(gzip)(text)),
}

/**
 * Compresses texts of more than 1 KB for clients that accept it (RFC 9110, section 12.5.3). Streams, files and clones are sent as they are.
 * So are answers to a browser's session, and every page: there, secrets (form tokens, one-time links, new keys) are next to text that
 * another site may choose, and the compressed length would reveal them (BREACH, CVE-2013-3587). An answer to an API key contains no secret,
 * and no other site can make a program request it.
 */
export function compressAnswers(app: FastifyInstance): void {
  const kept = new LRUCache<string, Buffer>({ maxSize: maxKept, sizeCalculation: ({ length }) => length })
  app.addHook('onSend', async (request, reply, payload) => {
    const etag = reply.getHeader('etag')
    if (reply.statusCode === 304) {
      // The tag of a compressed answer is weak.
      const isWeak = etag !== undefined && request.headers['if-none-match']?.includes(`W/${etag}`)
      if (isWeak) reply.headers({ etag: `W/${etag}`, vary: 'accept-encoding' })
      return payload
    }
    const isLong = typeof payload === 'string' && payload.length >= minLength
    if (!isLong || request.session !== undefined) return payload
    if (!compressible.test(String(reply.getHeader('content-type')))) return payload
    reply.header('vary', 'accept-encoding')
    const coding = codingFor(request)
    if (coding === undefined) return payload
    reply.header('content-encoding', coding)
    if (etag === undefined) return compressors[coding](payload)
    // The compressed bytes differ from those that the tag identifies.
    reply.header('etag', `W/${etag}`)
    const name = `${coding} ${etag}`
    const compressed = kept.get(name) ?? (await compressors[coding](payload))
    kept.set(name, compressed)
    return compressed
  })
}

function codingFor({ headers }: FastifyRequest): (typeof codings)[number] | undefined {
  const accepted = headers['accept-encoding']
  const coding = accepted === undefined ? null : negotiate(String(accepted), [...codings, 'identity'])
  return codings.find((name) => name === coding)
}

function isShort({ length }: string): boolean {
  return length <= maxInPlace
}
