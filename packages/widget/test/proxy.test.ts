import { createServer } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { listening } from '../../../test/support/listening.ts'
import { fetchProxy, nodeProxy } from '../src/proxy.ts'

const options = { url: 'http://127.0.0.1:1', key: 'key', kb: 'handbook' }

/** Sends bytes to a proxy, as no HTTP client would, and gives the first line of the answer once the connection is closed. */
function answerTo(origin: string, bytes: string, { isCut = false } = {}): Promise<string> {
  return new Promise((resolve) => {
    let answer = ''
    const socket = connect(Number(new URL(origin).port), '127.0.0.1', () =>
      socket.write(bytes, () => isCut && socket.destroy()),
    )
    socket.on('data', (data) => {
      answer += data
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(answer.split('\r\n')[0] ?? ''))
  })
}

test.each([
  [
    'another method',
    'TRACE /chat HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
    'HTTP/1.1 415 Unsupported Media Type',
  ],
  ['no path', 'OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', 'HTTP/1.1 404 Not Found'],
])('%s is answered', async (_, bytes, answer) => {
  const proxy = nodeProxy(options)
  const outcomes: Promise<void>[] = []
  const origin = await listening(createServer((request, response) => outcomes.push(proxy(request, response))))
  expect(await answerTo(origin, bytes)).toBe(answer)
  await Promise.all(outcomes)
})

test('a visitor who goes in the middle of a question does not make the proxy throw', async () => {
  const proxy = nodeProxy(options)
  const { promise: outcome, resolve } = Promise.withResolvers<Promise<void>>()
  const origin = await listening(createServer((request, response) => resolve(proxy(request, response))))
  const head =
    'POST /chat HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"message"'
  await answerTo(origin, head, { isCut: true })
  await expect(outcome).resolves.toBeUndefined()
})

test('of an endless question no more is read than is too much', async () => {
  let pulled = 0
  const body = new ReadableStream({
    pull(stream) {
      pulled++
      stream.enqueue(new TextEncoder().encode('x'.repeat(64 * 1024)))
    },
  })
  const headers = { 'content-type': 'application/json' }
  const answer = await fetchProxy(options)(
    new Request('http://a/chat', { method: 'POST', headers, body, duplex: 'half' }),
  )
  expect([answer.status, pulled < 20]).toEqual([413, true])
})

test('a vote asks nothing of pages that its visitor may not see', async () => {
  const server = createServer(async (request, response) => response.end(await text(request)))
  const proxy = fetchProxy({ ...options, url: await listening(server) })
  const vote = { vote: 'down', question: 'Who?', answer: 'Nobody.', reason: 'Ada is.' }
  const body = JSON.stringify({ ...vote, shouldCite: 'handbook_00000042' })
  const headers = { 'content-type': 'application/json' }
  const answer = await proxy(new Request('http://a/feedback', { method: 'POST', headers, body }))
  expect(await answer.json()).toEqual(vote)
})
