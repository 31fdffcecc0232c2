import { connect, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { buildServer, type ServerOptions } from '../../../src/http/server.ts'
import type { Services } from '../../../src/http/services.ts'
import type { ZodFastify } from '../../../src/http/zod-compilers.ts'
import { type FakeServices, fakeServices } from './fake-services.ts'
import { validateAnswer } from './openapi-validate.ts'

export type Request = {
  /** A bearer token: the name of a role. */
  as?: 'reader' | 'app' | 'curator'
  headers?: Record<string, string>
  /** Sent as JSON, or as it is where it is text. */
  body?: unknown
}

export type TestAnswer = {
  status: number
  headers: Record<string, string | undefined>
  text: string
  /** The body, where it is JSON. */
  json: unknown
}

export type TestServer = {
  app: ZodFastify
  services: FakeServices
  /** Asks in process; every answer is checked against the API's description. */
  request(
    method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS' | 'TRACE' | 'PROPFIND',
    url: string,
    request?: Request,
  ): Promise<TestAnswer>
}

/** A server over services in memory, closed when the test ends. */
export async function testServer(services: Partial<Services> = {}, options: ServerOptions = {}): Promise<TestServer> {
  const fake = fakeServices(services)
  const app = await buildServer(fake, options)
  onTestFinished(() => app.close())
  return {
    app,
    services: fake,
    async request(method, url, { as, headers, body } = {}) {
      const response = await app.inject({
        method,
        url,
        headers: {
          ...(as && { authorization: `Bearer ${as}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
      })
      const answerHeaders = Object.fromEntries(
        Object.entries(response.headers).map(([name, value]) => [name, String(value)]),
      )
      validateAnswer(app, { method, url, status: response.statusCode, headers: answerHeaders, body: response.body })
      const isJson = answerHeaders['content-type']?.startsWith('application/json') === true && method !== 'HEAD'
      const json: unknown = isJson ? JSON.parse(response.body) : undefined
      return { status: response.statusCode, headers: answerHeaders, text: response.body, json }
    },
  }
}

/** Listens on a free port of the loopback interface. */
export async function listen(app: ZodFastify): Promise<number> {
  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  return Number(new URL(address).port)
}

/** A connection, and all that it gives until the server closes it. A reset after an answer is the server's right. */
export function openConnection(port: number): { socket: Socket; received: Promise<string> } {
  const socket = connect(port, '127.0.0.1')
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => void chunks.push(chunk)).on('error', () => {})
  const received = new Promise<string>((resolve) => {
    socket.on('close', () => resolve(Buffer.concat(chunks).toString()))
  })
  return { socket, received }
}

/** Sends bytes, keeps its side of the connection open, and gives all that came until the server closed it. */
export async function exchange(port: number, bytes: string): Promise<string> {
  const { socket, received } = openConnection(port)
  socket.write(bytes)
  return received
}

/** Status and body of the last answer in what a connection gave. */
export function lastAnswer(received: string): { status: number; body: unknown } {
  const start = received.lastIndexOf('HTTP/1.1 ')
  const body = received.slice(received.indexOf('\r\n\r\n', start) + 4)
  return { status: Number(received.slice(start + 9, start + 12)), body: body === '' ? undefined : JSON.parse(body) }
}
