import { describe, expect, test } from 'vitest'
import { exchange, lastAnswer, listen, testServer } from '../support/test-server.ts'

const headers = { accept: 'application/json, text/event-stream' }
const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
const ask = { name: 'search', arguments: { kb: 'handbook', query: 'x' } }

describe('a message', () => {
  test('is answered with JSON, without a session', async () => {
    const { request } = await testServer()
    const answer = await request('POST', '/mcp', { as: 'app', headers, body: list })
    expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/json; charset=utf-8'])
    expect(answer.json).toMatchObject({ jsonrpc: '2.0', id: 1, result: { tools: expect.any(Array) } })
    expect(answer.headers).not.toHaveProperty('mcp-session-id')
  })

  test.each(['*/*', 'application/json', 'application/*;q=0.5', ''])(
    'is answered to a client that takes %j',
    async (accept) => {
      const { request } = await testServer()
      for (const path of ['/mcp', '/mcp/']) {
        const { status, json } = await request('POST', path, { as: 'app', headers: { accept }, body: list })
        expect([path, status, json]).toEqual([
          path,
          200,
          expect.objectContaining({ id: 1, result: expect.any(Object) }),
        ])
      }
    },
  )

  test('that needs no answer has none', async () => {
    const { app } = await testServer()
    const body = { jsonrpc: '2.0', method: 'notifications/initialized' }
    const authorization = 'Bearer app'
    const response = await app.inject({ method: 'POST', url: '/mcp', headers: { ...headers, authorization }, body })
    expect([response.statusCode, response.body]).toEqual([202, ''])
  })

  test('in the newest revision may name it in the header alone, and is told what it lacks', async () => {
    const { request } = await testServer()
    const newest = { ...headers, 'mcp-protocol-version': '2026-07-28' }
    const { status, json } = await request('POST', '/mcp', { as: 'app', headers: newest, body: list })
    expect([status, json]).toEqual([400, expect.objectContaining({ error: expect.objectContaining({ code: -32602 }) })])
  })

  test('of an unknown revision is refused', async () => {
    const { request } = await testServer()
    const unknown = { ...headers, 'mcp-protocol-version': '1999-01-01' }
    expect((await request('POST', '/mcp', { as: 'app', headers: unknown, body: list })).status).toBe(400)
  })

  test('of a method that there is not is answered with an error', async () => {
    const { request } = await testServer()
    const body = { ...list, method: 'logging/setLevel' }
    const { status, json } = await request('POST', '/mcp', { as: 'app', headers, body })
    expect([status, json]).toEqual([200, expect.objectContaining({ error: expect.objectContaining({ code: -32601 }) })])
  })

  test.each([
    ['no body', undefined],
    ['no JSON', '{'],
    ['no JSON-RPC', { method: 'tools/list' }],
    ['a deep one', `{"jsonrpc":"2.0","id":1,"method":"x","params":${'{"a":'.repeat(30)}1${'}'.repeat(31)}`],
    ['a prototype', '{"jsonrpc":"2.0","id":1,"method":"x","params":{"__proto__":{}}}'],
    ['an id that is none', { ...list, id: {} }],
  ])('that is %s is refused', async (_, body) => {
    const { request } = await testServer()
    expect((await request('POST', '/mcp', { as: 'app', headers, body })).status).toBe(400)
  })

  test.each(['text/plain', 'application/x-www-form-urlencoded'])('of type %s is refused', async (type) => {
    const { request } = await testServer()
    const { status, json } = await request('POST', '/mcp', {
      as: 'app',
      headers: { ...headers, 'content-type': type },
      body: list,
    })
    expect([status, json]).toEqual([415, expect.objectContaining({ error: 'unsupported_media_type' })])
  })

  test('for which the client takes no answer is refused', async () => {
    const { request } = await testServer()
    const accept = 'text/html'
    expect((await request('POST', '/mcp', { as: 'app', headers: { accept }, body: list })).status).toBe(406)
  })

  test('beyond 2 MB is refused', async () => {
    const { request } = await testServer()
    const body = { ...list, params: { cursor: 'x'.repeat(2 * 1024 * 1024) } }
    const { status, json } = await request('POST', '/mcp', { as: 'app', headers, body })
    expect([status, json]).toEqual([413, expect.objectContaining({ error: 'payload_too_large' })])
  })

  test('counts as a read', async () => {
    const { request } = await testServer({}, { rateReads: 2, rateWrites: 1 })
    const statuses = []
    for (let n = 0; n < 3; n++) {
      statuses.push((await request('POST', '/mcp', { as: 'app', headers, body: list })).status)
    }
    expect(statuses).toEqual([200, 200, 429])
    expect((await request('GET', '/api/v1/neurons/handbook/handbook_00000042', { as: 'app' })).status).toBe(429)
  })

  test('waits for a server that is not ready', async () => {
    const { request } = await testServer({}, { isReady: () => false })
    expect((await request('POST', '/mcp', { as: 'app', headers, body: list })).status).toBe(503)
  })
})

describe('a batch', () => {
  const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' }
  const tool = (id: unknown, name: string, args: object) => ({
    ...{ jsonrpc: '2.0', id, method: 'tools/call' },
    params: { name, arguments: { kb: 'handbook', ...args } },
  })
  const send = async (body: unknown, more: object = {}, options: object = {}) => {
    const { request } = await testServer({}, options)
    return request('POST', '/mcp', { as: 'app', headers: { ...headers, ...more }, body })
  }

  test.each([{}, { 'mcp-protocol-version': '2025-03-26' }])('is answered with an array for %j', async (more) => {
    const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'a' } }
    const page = tool('a', 'read_neuron', { seqId: 'handbook_00000042' })
    const answer = await send(
      [page, cancelled, initialized, list, tool(2, 'search', {}), { ...list, method: 'x' }],
      more,
    )
    expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/json; charset=utf-8'])
    expect(answer.json).toMatchObject([
      { id: 'a', result: { structuredContent: { seqId: 'handbook_00000042' } } },
      { id: 1, result: { tools: expect.any(Array) } },
      { id: 2, result: { isError: true } },
      { id: 1, error: { code: -32601 } },
    ])
    expect((await send([list], more)).json).toEqual([expect.objectContaining({ id: 1, result: expect.any(Object) })])
    const silent = await send([initialized, cancelled], more)
    expect([silent.status, silent.text]).toEqual([202, ''])
  })

  test.each(['2024-11-05', '2025-06-18', '2025-11-25', '2026-07-28', '1999-01-01', '2025-03-26, 2025-03-26'])(
    'of revision %s is refused, and told why',
    async (revision) => {
      const { status, json } = await send([list], { 'mcp-protocol-version': revision })
      const message = 'Send one message: only revision 2025-03-26 has batches.'
      expect([status, json]).toEqual([400, { error: 'malformed_request', message }])
    },
  )

  const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' }
  test.each([
    ['empty', []],
    ['longer than 20', Array.from({ length: 21 }, () => list)],
    ['in a batch', [[list, list]]],
    ['with no message', [list, 1]],
    ['with null', [list, null]],
    ['with no JSON-RPC', [list, { id: 2, method: 'tools/list' }]],
    ['with an id that is none', [list, { ...list, id: {} }]],
    ['with a handshake', [{ ...list, method: 'initialize', params: {} }, list]],
    ['with a message of the newest revision', [list, { ...list, params: { _meta: meta } }]],
  ])('that is %s is refused whole', async (_, body) => {
    const { status, text } = await send(body)
    // A message of the newest revision is refused by the protocol's library, all else by the server.
    const reason =
      /The body must (?:not be empty|have (?:at most 20 items|messages, none `initialize`))\.|JSON-RPC batch/
    expect([status, text]).toEqual([400, expect.stringMatching(reason)])
  })

  test('for which the client takes no answer is refused', async () => {
    expect((await send([list, list], { accept: 'text/html' })).status).toBe(406)
  })

  test('counts each message, and runs none of those that are too many', async () => {
    const { request } = await testServer({}, { rateReads: 22, rateWrites: 1 })
    const batch = (body: unknown) => request('POST', '/mcp', { as: 'app', headers, body })
    const page = { action: 'new', title: 'Lot', content: 'Park in lot B.' }
    const proposed = await batch([tool(1, 'propose', page), tool(2, 'propose', { ...page, title: 'Lots' })])
    expect(proposed.json).toMatchObject([
      { id: 1, result: { structuredContent: { status: 'pending' } } },
      { id: 2, result: { isError: true, content: [{ text: expect.stringContaining('rate_limited') }] } },
    ])
    expect((await batch(Array.from({ length: 20 }, () => list))).status).toBe(200)
    const { status, json } = await batch([list, list])
    expect([status, json]).toEqual([429, expect.objectContaining({ error: 'rate_limited' })])
  })

  test('is no way around what a key may do', async () => {
    const { request } = await testServer()
    const { json } = await request('POST', '/mcp', { as: 'reader', headers, body: [tool(1, 'propose', {}), list] })
    expect(json).toMatchObject([
      { id: 1, error: expect.any(Object) },
      { id: 1, result: expect.any(Object) },
    ])
    expect((await request('POST', '/mcp', { headers, body: [list, list] })).status).toBe(401)
  })
})

test('a stream of changes ends at once, since there are none', async () => {
  const { request } = await testServer()
  const body = {
    jsonrpc: '2.0',
    id: 1,
    method: 'subscriptions/listen',
    params: {
      notifications: { toolsListChanged: true },
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
        'io.modelcontextprotocol/clientCapabilities': {},
      },
    },
  }
  const { status, text } = await request('POST', '/mcp', {
    as: 'app',
    headers: { ...headers, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' },
    body,
  })
  expect(status).toBe(200)
  expect(text.match(/"method":"[^"]*"|"result"/g)).toEqual([
    '"method":"notifications/subscriptions/acknowledged"',
    '"result"',
  ])
})

describe('without a token', () => {
  test.each(['GET', 'HEAD', 'POST', 'DELETE', 'PUT', 'OPTIONS'] as const)('%s is 401', async (method) => {
    const { request } = await testServer()
    const answer = await request(method, '/mcp', method === 'POST' ? { headers, body: list } : {})
    expect([answer.status, answer.headers['www-authenticate']]).toEqual([
      401,
      'Bearer resource_metadata="http://localhost/.well-known/oauth-protected-resource/mcp"',
    ])
  })

  test('a message is refused before its body comes', async () => {
    const { app } = await testServer()
    const lines = [
      'POST /mcp HTTP/1.1',
      'Host: 127.0.0.1',
      'Content-Type: application/json',
      `Content-Length: ${100 * 1024 * 1024}`,
      '',
      '{',
    ]
    const received = await exchange(await listen(app), lines.join('\r\n'))
    expect(lastAnswer(received)).toMatchObject({ status: 401, body: { error: 'invalid_token' } })
    expect(received.toLowerCase()).toContain('www-authenticate: bearer')
  })

  test('a token in the query or a cookie is none', async () => {
    const { request } = await testServer()
    const cookie = { ...headers, cookie: 'token=app' }
    expect((await request('POST', '/mcp?token=app', { headers: cookie, body: list })).status).toBe(401)
  })
})

test.each(['GET', 'HEAD', 'DELETE', 'PUT', 'OPTIONS'] as const)('%s is not allowed', async (method) => {
  const { request } = await testServer()
  const answer = await request(method, '/mcp', { as: 'app', headers: { accept: 'text/event-stream' } })
  expect([answer.status, answer.headers.allow]).toEqual([405, 'POST'])
})

describe('the origin', () => {
  async function statusFor(origin: string, host: string, publicUrl?: string): Promise<unknown> {
    const { request } = await testServer({}, { publicUrl })
    const { status, json } = await request('POST', '/mcp', {
      as: 'app',
      headers: { ...headers, origin, host },
      body: { ...list, method: 'tools/call', params: ask },
    })
    return status === 200 ? status : json
  }

  test.each([
    ['http://127.0.0.1:4870', '127.0.0.1:4870', undefined],
    ['http://localhost:4870', 'localhost:4870', undefined],
    ['http://localhost', 'localhost:80', undefined],
    ['https://[::1]:4870', '[::1]:4870', undefined],
    ['https://kb.example.com', '127.0.0.1:4870', 'https://kb.example.com/ganglion'],
    ['https://kb.example.com', 'kb.example.com', 'https://kb.example.com'],
  ])('%s is the own one of %s', async (origin, host, publicUrl) => {
    expect(await statusFor(origin, host, publicUrl)).toBe(200)
  })

  test.each([
    ['https://evil.example', '127.0.0.1:4870', undefined],
    // A name that was made to lead here.
    ['http://evil.example:4870', 'evil.example:4870', undefined],
    ['http://localhost.evil.example:4870', 'localhost.evil.example:4870', undefined],
    ['http://localhost:3000', 'localhost:4870', undefined],
    ['http://127.0.0.1:4870', '127.0.0.2:4870', undefined],
    ['null', '127.0.0.1:4870', undefined],
    ['', '127.0.0.1:4870', undefined],
    ['file://', '127.0.0.1:4870', undefined],
    ['moz-extension://127.0.0.1:4870', '127.0.0.1:4870', undefined],
    ['http://kb.example.com', '127.0.0.1:4870', 'https://kb.example.com'],
    ['https://kb.example.com:8443', 'kb.example.com', 'https://kb.example.com'],
    ['https://kb.example.com.evil.example', 'kb.example.com', 'https://kb.example.com'],
  ])('%s is foreign to %s', async (origin, host, publicUrl) => {
    expect(await statusFor(origin, host, publicUrl)).toEqual({ error: 'foreign_origin', message: expect.any(String) })
  })

  test('is told apart only for those who have a key', async () => {
    const { request } = await testServer()
    const foreign = { ...headers, origin: 'https://evil.example' }
    expect((await request('POST', '/mcp', { headers: foreign, body: list })).status).toBe(401)
    expect((await request('GET', '/mcp', { as: 'app', headers: foreign })).status).toBe(403)
  })
})
