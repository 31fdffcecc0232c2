import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, test, vi } from 'vitest'
import { exchange, lastAnswer, listen, openConnection, neuronPath as read, testServer } from './support/test-server.ts'

const write = '/api/v1/queue/candidates'

function message(start: string, ...headers: string[]): string {
  return `${[`${start} HTTP/1.1`, ...headers].join('\r\n')}\r\n\r\n`
}

describe('what is not HTTP by the letter is 400, in the envelope', () => {
  test.each<[string, string]>([
    ['no HTTP at all', 'hello\r\n\r\n'],
    ['two Content-Lengths', `${message(`POST ${write}`, 'Host: a', 'Content-Length: 2', 'Content-Length: 3')}{}`],
    [
      'Content-Length and Transfer-Encoding',
      `${message(`POST ${write}`, 'Host: a', 'Content-Length: 2', 'Transfer-Encoding: chunked')}0\r\n\r\n`,
    ],
    [
      'a transfer encoding that does not end in chunked',
      message(`POST ${write}`, 'Host: a', 'Transfer-Encoding: chunked, gzip'),
    ],
    ['an obsolete line folding', message('GET /healthz', 'Host: a', 'X-A: b', ' c')],
    ['a space before the colon', message('GET /healthz', 'Host : a')],
    ['NUL in a header', message('GET /healthz', 'Host: a', 'X-A: b\0c')],
    ['a bare line feed', 'GET /healthz HTTP/1.1\nHost: a\n\n'],
    [
      'a bad size of a chunk',
      `${message(`POST ${write}`, 'Host: a', 'Authorization: Bearer app', 'Transfer-Encoding: chunked')}xyz\r\n`,
    ],
    ['no Host', message('GET /healthz', 'Connection: close')],
    ['two Hosts', message('GET /healthz', 'Host: a', 'Host: b', 'Connection: close')],
    ['the same Host twice', message('GET /healthz', 'Host: a', 'host: a', 'Connection: close')],
    ['a Host that is none', message('GET /healthz', 'Host: a/b', 'Connection: close')],
    ['two tokens', message('GET /healthz', 'Host: a', 'Authorization: a', 'Authorization: b', 'Connection: close')],
    [
      'a transfer encoding beside chunked',
      `${message(`POST ${write}`, 'Host: a', 'Transfer-Encoding: gzip, chunked')}0\r\n\r\n`,
    ],
    [
      'transfer encodings in two lines',
      `${message(`POST ${write}`, 'Host: a', 'Transfer-Encoding: gzip', 'Transfer-Encoding: chunked')}0\r\n\r\n`,
    ],
  ])('%s', async (_, bytes) => {
    const { app } = await testServer()
    expect(lastAnswer(await exchange(await listen(app), bytes))).toEqual({
      status: 400,
      body: { error: 'malformed_request', message: expect.any(String) },
    })
  })
})

test.each(['localhost', 'a.example:8080', '[::1]:80', '127.0.0.1', ''])('the Host %j is taken', async (host) => {
  const { app } = await testServer()
  const received = await exchange(await listen(app), message('GET /healthz', `Host: ${host}`, 'Connection: close'))
  expect(lastAnswer(received).status).toBe(200)
})

test.each([...['....//package.json', '../package.json', '%2e%2e/package.json', '%00', '\\..\\x', 'a'.repeat(5_000)]])(
  'a path that leads out of the files of the description is 404: %s',
  async (path) => {
    const { app } = await testServer()
    const bytes = message(`GET /docs/static/${path}`, 'Host: a', 'Connection: close')
    expect(lastAnswer(await exchange(await listen(app), bytes))).toEqual({
      status: 404,
      body: { error: 'not_found', message: expect.any(String) },
    })
  },
)

test('headers over 16 KB are 431', async () => {
  const { app } = await testServer()
  const received = await exchange(await listen(app), message('GET /healthz', 'Host: a', `X-A: ${'x'.repeat(17_000)}`))
  expect(lastAnswer(received)).toEqual({ status: 431, body: expect.objectContaining({ error: 'header_too_large' }) })
})

test('headers that take too long are 408', async () => {
  const { app } = await testServer({}, { timeouts: { headers: 200, request: 400 } })
  const received = await exchange(await listen(app), 'GET /healthz HTTP/1.1\r\nHost: a\r\n')
  expect(lastAnswer(received)).toEqual({ status: 408, body: expect.objectContaining({ error: 'request_timeout' }) })
})

test('a body that takes too long is 408', async () => {
  const { app } = await testServer({}, { timeouts: { headers: 200, request: 400 } })
  const head = message(
    `POST ${write}`,
    'Host: a',
    'Authorization: Bearer app',
    'Content-Type: application/json',
    'Content-Length: 9',
  )
  const received = await exchange(await listen(app), `${head}{`)
  expect(lastAnswer(received)).toEqual({ status: 408, body: expect.objectContaining({ error: 'request_timeout' }) })
})

test('a body that has come while the process was stopped is read', async () => {
  const { app } = await testServer({}, { timeouts: { headers: 1_000, request: 2_000 } })
  const lines = ['Host: a', 'Authorization: Bearer app', 'Content-Type: application/json', 'Content-Length: 2']
  const { socket, received } = openConnection(await listen(app))
  socket.write(`${message(`POST ${write}`, ...lines)}{`)
  await delay(100)
  // Timers are the next that is looked at.
  await nextTurn()
  socket.write('}')
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_500)
  socket.end()
  expect(lastAnswer(await received).status).toBe(400)
})

test('an idle connection is closed', async () => {
  const { app } = await testServer({}, { timeouts: { keepAlive: 100 } })
  expect(lastAnswer(await exchange(await listen(app), message('GET /healthz', 'Host: a'))).status).toBe(200)
})

test('a client that resets its connection does no harm', async () => {
  const { app } = await testServer()
  const port = await listen(app)
  for (const bytes of [
    'GET /heal',
    message(`POST ${write}`, 'Host: a', 'Authorization: Bearer app', 'Content-Length: 9'),
  ]) {
    const socket = connect(port, '127.0.0.1')
    socket.write(bytes)
    await delay(20)
    socket.resetAndDestroy()
  }
  expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200)
})

const megabytes = (count: number) => count * 1024 * 1024

/** Sends a request's head and then its body as fast as the server takes it, until the server closes. */
async function flood(port: number, head: string, total: number): Promise<string> {
  const { socket, received } = openConnection(port)
  socket.write(head)
  const chunk = Buffer.alloc(64 * 1024, 'x')
  let left = total
  const pump = () => {
    while (left > 0 && socket.writable) {
      left -= chunk.length
      if (!socket.write(chunk)) return
    }
  }
  socket.on('drain', pump)
  pump()
  return received
}

describe('a body of 100 MB', () => {
  const refused: [string, string, string, number][] = [
    ['behind no token', write, 'X-A: b', 401],
    ['behind a bad token', write, 'Authorization: Bearer nobody', 401],
    ['behind the wrong role', write, 'Authorization: Bearer reader', 403],
    ['for an unknown path', '/api/v1/nothing', 'Authorization: Bearer app', 404],
    ['for a route that takes 2 MB', write, 'Authorization: Bearer app', 413],
  ]

  test.each(refused)('%s is answered and not read', async (_, path, header, status) => {
    const { app, acts } = await testServer()
    const sockets: Socket[] = []
    app.server.on('connection', (socket) => sockets.push(socket))
    const head = message(
      `POST ${path}`,
      'Host: a',
      header,
      'Content-Type: application/json',
      `Content-Length: ${megabytes(100)}`,
    )
    const received = await flood(await listen(app), head, megabytes(100))
    expect(lastAnswer(received).status).toBe(status)
    expect(received.toLowerCase()).toContain('connection: close')
    expect(sockets[0]?.bytesRead).toBeLessThan(megabytes(1))
    expect(acts).toEqual([])
  })

  test('of unknown length is read up to the limit only', async () => {
    const { app } = await testServer()
    const sockets: Socket[] = []
    app.server.on('connection', (socket) => sockets.push(socket))
    const head = message(
      `POST ${write}`,
      'Host: a',
      'Authorization: Bearer app',
      'Content-Type: application/json',
      'Transfer-Encoding: chunked',
    )
    const chunk = `${(megabytes(100)).toString(16)}\r\n`
    const received = await flood(await listen(app), head + chunk, megabytes(100))
    expect(lastAnswer(received).status).toBe(413)
    expect(sockets[0]?.bytesRead).toBeLessThan(megabytes(4))
  })

  test('that waits to be asked for is not asked for, unless it will be read', async () => {
    const { app } = await testServer()
    const port = await listen(app)
    const ask = (header: string, length: number) =>
      exchange(
        port,
        message(
          `POST ${write}`,
          'Host: a',
          header,
          'Content-Type: application/json',
          `Content-Length: ${length}`,
          'Expect: 100-continue',
        ),
      )
    expect(await ask('Authorization: Bearer nobody', megabytes(100))).toMatch(/^HTTP\/1\.1 401 /)
    expect(await ask('Authorization: Bearer app', megabytes(100))).toMatch(/^HTTP\/1\.1 413 /)
  })
})

test('a body that waits to be asked for is asked for, and read', async () => {
  const { app, acts } = await testServer()
  const socket = connect(await listen(app), '127.0.0.1')
  const body = JSON.stringify({ kb: 'handbook', kind: 'chat', title: 'x', content: 'y' })
  const headers = ['Host: a', 'Authorization: Bearer app', 'Content-Type: application/json', 'Connection: close']
  socket.write(message(`POST ${write}`, ...headers, `Content-Length: ${body.length}`, 'Expect: 100-continue'))
  const [first] = await once(socket, 'data')
  expect(String(first)).toBe('HTTP/1.1 100 Continue\r\n\r\n')
  socket.write(body)
  const [second] = await once(socket, 'data')
  expect(String(second)).toMatch(/^HTTP\/1\.1 201 /)
  expect(acts).toHaveLength(1)
})

describe('draining', () => {
  test('lets requests in flight finish, answers new ones 503, and then closes', async () => {
    const arrived = Promise.withResolvers<void>()
    const gate = Promise.withResolvers<void>()
    // For connections that are kept, the test has no time.
    const { app, ctx } = await testServer({}, { timeouts: { keepAlive: 600_000 } })
    const { readableKb } = ctx
    vi.spyOn(ctx, 'readableKb').mockImplementation(async (...which) => {
      arrived.resolve()
      await gate.promise
      return readableKb(...which)
    })
    const port = await listen(app)
    const inFlight = exchange(port, message(`GET ${read}`, 'Host: a', 'Authorization: Bearer reader'))
    const late = openConnection(port)
    late.socket.write('GET /api/v1/queue/candidates HTTP/1.1\r\nHost: a\r\n')
    await arrived.promise
    await delay(100) // until the server has read the first lines, too

    const closed = app.close()
    await delay(50)
    late.socket.write('Authorization: Bearer curator\r\n\r\n')
    expect(lastAnswer(await late.received)).toEqual({
      status: 503,
      body: expect.objectContaining({ error: 'unavailable' }),
    })
    await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow()

    gate.resolve()
    expect(lastAnswer(await inFlight).status).toBe(200)
    await closed
  })
})
