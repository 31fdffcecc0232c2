import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type ErrorCode, errorTable, GanglionError } from '../contract/errors.ts'

/** Reason phrases by status. An import of `node:http` would read all its exports, of which one loads a client in 40 ms. */
const { STATUS_CODES: reasons } = process.getBuiltinModule('node:http')

/** Timeouts in milliseconds. */
export type Timeouts = {
  /** Time for the headers to arrive. */
  headers: number
  /** Time for the body to arrive after the headers. */
  request: number
  /** Time for each further 16 KB of an upload to arrive. */
  upload: number
  /** Time for which an idle connection is kept. */
  keepAlive: number
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True if the body may take long, as long as it keeps arriving. */
    upload?: boolean
  }
}

/** Minimum bytes of an upload in each window. */
const minUpload = 16 * 1024
/** Milliseconds for which a connection stays open after a response that preceded the end of its request. */
const linger = 1000

/** Returns the limits of a connection, for Fastify. Header size in bytes. */
export function connectionOptions({ headers, keepAlive }: Timeouts) {
  return {
    http: {
      maxHeaderSize: 16 * 1024,
      headersTimeout: headers,
      connectionsCheckingInterval: Math.min(headers, 2000),
      insecureHTTPParser: false,
      // Checked by a hook, because Node would answer without a body.
      requireHostHeader: false,
    },
    // Disabled, because Node's timeout is the same for all routes. See boundArrival.
    requestTimeout: 0,
    keepAliveTimeout: keepAlive,
  }
}

const codeByParserError: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'header_too_large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'payload_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
}

/** Answers connections that never became a request: rejected by the HTTP parser, or too slow. */
export function answerBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const code = codeByParserError[error.code ?? ''] ?? 'malformed_request'
  const { status, message } = errorTable[code]
  const body = JSON.stringify({ error: code, message })
  socket.end(
    [
      `HTTP/1.1 ${status} ${reasons[status]}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  )
  setTimeout(() => socket.destroy(), linger).unref()
}

/** Headers that a request may have only once: a proxy might use another one than this server. */
const singletons: ReadonlySet<string> = new Set([
  'host',
  'authorization',
  'content-type',
  'content-length',
  'content-range',
])
/** Syntax of `Host` (RFC 9110, section 7.2). */
const hostSyntax = /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/i

/** True if servers may interpret a request differently (RFC 9112, sections 3.2, 6.1 and 6.3); Node's parser accepts such requests. */
export function isAmbiguous({ headers, httpVersion, rawHeaders }: IncomingMessage): boolean {
  const { host, 'transfer-encoding': coding } = headers
  const isHostBad = host === undefined ? httpVersion === '1.1' : !hostSyntax.test(host)
  const isCodingBad = coding !== undefined && (coding.toLowerCase() !== 'chunked' || httpVersion === '1.0')
  return isHostBad || isCodingBad || hasRepeatedSingleton(rawHeaders)
}

/** True if a header that may occur only once is repeated. @param rawHeaders names and values in turn, as in Node */
function hasRepeatedSingleton(rawHeaders: readonly string[]): boolean {
  const seen = new Set<string>()
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]?.toLowerCase() ?? ''
    if (!singletons.has(name)) continue
    if (seen.has(name)) return true
    seen.add(name)
  }
  return false
}

/** Limits how long a body may take to arrive: by time, or for an upload by its rate. */
export function boundArrival(app: FastifyInstance, { request: wholeTime, upload: window }: Timeouts): void {
  app.addHook('onRequest', ({ raw, routeOptions }, reply, done) => {
    if (isBodyOnItsWay(raw)) bound(raw, reply, routeOptions.config.upload === true)
    done()
  })

  function bound(raw: IncomingMessage, reply: FastifyReply, isUpload: boolean): void {
    let received = raw.socket.bytesRead
    const check = () => {
      if (raw.complete) return clearInterval(timer)
      const arrived = raw.socket.bytesRead - received
      received += arrived
      // Bytes that wait to be read are not late: then this server is slow.
      if (isUpload && (arrived >= minUpload || raw.readableLength > 0)) return
      clearInterval(timer)
      if (reply.raw.headersSent) raw.destroy()
      else answerBrokenRequest(Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), raw.socket)
    }
    // A process that was suspended meanwhile first reads the received data.
    const timer = setInterval(() => setImmediate(check), isUpload ? window : wholeTime)
    raw.once('close', () => clearInterval(timer))
  }
}

/**
 * Lets hooks reject a request before its client is told to send the body (`Expect: 100-continue`; RFC 9110, section 10.1.1).
 */
export function holdExpectations(app: FastifyInstance): void {
  for (const event of ['checkContinue', 'checkExpectation']) app.server.on(event, app.routing)
  app.addHook('preParsing', ({ headers, routeOptions }, reply, payload, done) => {
    if (Number(headers['content-length']) > routeOptions.bodyLimit) {
      done(new GanglionError('payload_too_large'))
      return
    }
    if (headers.expect?.toLowerCase() === '100-continue') reply.raw.writeContinue()
    done(null, payload)
  })
}

/**
 * Returns a hook for responses that are sent while the request's body is still arriving. Closing such a connection at once resets it, and
 * the client may lose the response. So the response is sent, the rest of the body stays unread, and the connection is closed a moment
 * later.
 */
export function lingerBeforeClosing(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  done: (error: null, payload: unknown) => void,
): void {
  if (!isBodyOnItsWay(request.raw) || typeof payload !== 'string') {
    done(null, payload)
    return
  }
  reply.header('connection', 'close').header('content-length', Buffer.byteLength(payload))
  request.raw.pause()
  done(null, Readable.from(withPause(payload, request.raw)))
}

async function* withPause(payload: string, request: IncomingMessage): AsyncGenerator<string> {
  yield payload
  await Promise.race([once(request, 'close'), delay(linger, undefined, { ref: false })])
}

function isBodyOnItsWay({ complete, headers }: IncomingMessage): boolean {
  if (complete !== false) return false
  const isExpected = headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > 0
  return isExpected
}
