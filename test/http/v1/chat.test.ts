import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import type { Answerer } from '../../../src/chat/answerer.ts'
import { GanglionError } from '../../../src/contract/errors.ts'
import { allEvents, readEvents } from '../support/events.ts'
import { listen, seqId, testServer } from '../support/test-server.ts'

const stream = { accept: 'text/event-stream' }
const question = { knowledgeBaseId: 'handbook', message: 'Who is paged?' }

const said = { text: 'Page the lead.', cited: [seqId], answeredBy: 'test' }
const chatAnswer = expect.objectContaining({
  ...{ answer: said.text, answeredBy: 'test', citations: [expect.objectContaining({ seqId })] },
  ...{ sessionId: expect.any(String), turnId: expect.any(String) },
})

/** An answerer that says something, then goes on only when it is told to; its signal is handed out once it is asked. */
function heldChat() {
  const asked = Promise.withResolvers<AbortSignal>()
  const go = Promise.withResolvers<void>()
  const answerer: Answerer = {
    async *answer(_, signal) {
      asked.resolve(signal)
      yield 'Page '
      const aborted = once(signal, 'abort').then(() => signal.throwIfAborted())
      await Promise.race([go.promise, aborted])
      yield 'the lead.'
      return said
    },
  }
  return { answerer, asked: asked.promise, go: go.resolve }
}

/** An answerer that says all at once, and keeps what it was asked. */
function readyChat() {
  const asked: Parameters<Answerer['answer']>[0][] = []
  const answerer: Answerer = {
    async *answer(question) {
      asked.push(question)
      yield 'Page '
      yield 'the lead.'
      return said
    },
  }
  return { answerer, asked }
}

async function ask(port: number, headers: Record<string, string> = {}, signal: AbortSignal | null = null) {
  return fetch(`http://127.0.0.1:${port}/api/v1/chat`, {
    method: 'POST',
    headers: { authorization: 'Bearer app', 'content-type': 'application/json', ...headers },
    body: JSON.stringify(question),
    signal,
  })
}

describe('a question', () => {
  test('is answered with one JSON object', async () => {
    const { request } = await testServer({ answerer: readyChat().answerer })
    const { status, json } = await request('POST', '/api/v1/chat', { as: 'reader', body: question })
    expect([status, json]).toEqual([200, chatAnswer])
  })

  test('may leave out the knowledge base, or name a session', async () => {
    const { answerer, asked } = readyChat()
    const { request } = await testServer({ answerer })
    const send = async (body: object) => (await request('POST', '/api/v1/chat', { as: 'app', body })).json
    expect(await send({ message: 'Who?' })).toEqual({
      answer: expect.any(String),
      answeredBy: 'extract',
      grounded: 'false',
    })
    const first = Object(await send({ kb: 'handbook', message: 'Who?', audience: 'public' }))
    expect(await send({ message: 'And?', sessionId: first.sessionId, audience: 'public' })).toMatchObject({
      sessionId: first.sessionId,
    })
    expect(asked).toMatchObject([
      { message: 'Who?', history: [], audience: 'public' },
      { message: 'And?', history: [{ question: 'Who?', answer: said.text }], audience: 'public' },
    ])
  })

  test('may be the last of a list of messages', async () => {
    const { answerer, asked } = readyChat()
    const { request } = await testServer({ answerer })
    const messages = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Who is paged?' },
      { role: 'assistant', content: 'The lead.' },
      { role: 'user', content: 'And then?' },
      { role: 'assistant', content: '' },
    ]
    await request('POST', '/api/v1/chat', { as: 'app', body: { kb: 'handbook', messages } })
    expect(asked).toMatchObject([
      { message: 'And then?', history: [{ question: 'Who is paged?', answer: 'The lead.' }] },
    ])
  })

  test.each<[string, Record<string, unknown>]>([
    ['message', {}],
    ['message', { message: '' }],
    ['message', { message: 42 }],
    ['message', { message: 'x'.repeat(8001) }],
    ['message', { message: '\ufdfa'.repeat(445) }],
    ['message', { message: 'a\0b' }],
    ['message', { message: 'a\ud800' }],
    ['message', { messages: [{ role: 'assistant', content: 'Hello.' }] }],
    ['message', { messages: [{ role: 'user', content: '' }] }],
    ['message', { messages: [{ role: 'user', content: 'x'.repeat(8001) }] }],
    ['messages', { messages: [] }],
    ['messages', { messages: 'Who?' }],
    ['messages', { messages: [{ role: 'tool', content: 'x' }] }],
    ['messages', { messages: Array.from({ length: 101 }, () => ({ role: 'user', content: 'x' })) }],
    ['audience', { message: 'Who?', audience: 'student' }],
    ['audience', { message: 'Who?', audience: null }],
    ['knowledgeBaseId', { message: 'Who?', knowledgeBaseId: 'A' }],
    ['knowledgeBaseId', { message: 'Who?', knowledgeBaseId: 7 }],
    ['sessionId', { message: 'Who?', sessionId: 7 }],
    ['sessionId', { message: 'Who?', sessionId: 'x'.repeat(101) }],
  ])('with a bad %s is 400: %j', async (field, body) => {
    const { answerer, asked } = readyChat()
    const { request } = await testServer({ answerer })
    const { status, json } = await request('POST', '/api/v1/chat', { as: 'app', body, headers: stream })
    const error = { formErrors: [], fieldErrors: { [field]: [expect.stringMatching(/\w/)] } }
    const message = expect.stringMatching(/^The (?:messages?|audience|knowledge base|session id) must .*[^.]\.$/)
    expect([status, json]).toEqual([400, { error, message }])
    expect(asked).toEqual([])
  })

  test('may have 8,000 characters, an emoji being one', async () => {
    const { request } = await testServer()
    const { status } = await request('POST', '/api/v1/chat', { as: 'app', body: { message: '🙂'.repeat(8000) } })
    expect(status).toBe(200)
  })

  test.each([{}, stream])('on a knowledge base that is not there is 404: %j', async (headers) => {
    const { request } = await testServer()
    const body = { ...question, knowledgeBaseId: 'other' }
    const { status, json } = await request('POST', '/api/v1/chat', { as: 'app', body, headers })
    expect([status, json]).toEqual([404, { error: 'not_found', message: expect.any(String) }])
  })

  test('without a token is 401', async () => {
    const { request } = await testServer()
    expect((await request('POST', '/api/v1/chat', { body: question })).status).toBe(401)
  })
})

describe('a stream', () => {
  test('gives the answer as it comes, and then whole', async () => {
    const { answerer, go } = heldChat()
    const { app } = await testServer({ answerer })
    const response = await ask(await listen(app), stream)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('x-accel-buffering')).toBe('no')
    const events = readEvents(response)
    // Held back until the first event was read: it was not waiting for the rest.
    expect((await events.next()).value).toEqual({ event: 'delta', data: { text: 'Page ' } })
    go()
    expect(await allEvents(events)).toEqual([
      { event: 'delta', data: { text: 'the lead.' } },
      { event: 'done', data: chatAnswer },
    ])
  })

  test('is described, like the JSON', async () => {
    const { request } = await testServer({ answerer: readyChat().answerer })
    const { text } = await request('POST', '/api/v1/chat', { as: 'app', body: question, headers: stream })
    expect(text.match(/^event: .*/gm)).toEqual(['event: delta', 'event: delta', 'event: done'])
    const { paths } = Object((await request('GET', '/openapi.json')).json)
    expect(Object.keys(paths['/api/v1/chat'].post.responses[200].content)).toEqual([
      'application/json',
      'text/event-stream',
    ])
  })

  test('that breaks ends with the error, and tells no more than an answer would', async () => {
    const lines: string[] = []
    const { app } = await testServer(
      {
        answerer: {
          async *answer() {
            yield 'Page '
            throw new Error('SQLITE_CORRUPT at /data')
          },
        },
      },
      { log: { level: 'error', stream: { write: (line) => void lines.push(line) } } },
    )
    const events = await allEvents(readEvents(await ask(await listen(app), stream)))
    expect(events).toEqual([
      { event: 'delta', data: { text: 'Page ' } },
      { event: 'error', data: { error: 'internal', message: expect.any(String) } },
    ])
    expect(lines.join('')).toContain('SQLITE_CORRUPT')
  })

  test('ends when the server closes', async () => {
    const { answerer, asked } = heldChat()
    const { app } = await testServer({ answerer })
    const events = readEvents(await ask(await listen(app), stream))
    await events.next()
    const closed = app.close()
    expect(await allEvents(events)).toEqual([
      { event: 'error', data: { error: 'unavailable', message: expect.any(String) } },
    ])
    expect((await asked).aborted).toBe(true)
    await closed
  })
})

describe('a client that goes away', () => {
  test.each([stream, {}])('stops the work: %j', async (headers) => {
    const { answerer, asked } = heldChat()
    const lines: string[] = []
    const log = { level: 'warn' as const, stream: { write: (line: string) => void lines.push(line) } }
    const { app } = await testServer({ answerer }, { log })
    const client = new AbortController()
    const answer = ask(await listen(app), headers, client.signal).then((response) => response.text())
    const signal = await asked
    expect(signal.aborted).toBe(false)
    const stopped = once(signal, 'abort')
    client.abort()
    await expect(answer).rejects.toThrow()
    await stopped
    await app.close()
    expect(lines).toEqual([])
  })

  test('is not told of by a signal while it is there', async () => {
    const { answerer, asked, go } = heldChat()
    const { app } = await testServer({ answerer })
    const answer = ask(await listen(app))
    const signal = await asked
    go()
    expect(await (await answer).json()).toEqual(chatAnswer)
    expect(signal.aborted).toBe(false)
  })
})

test('an answer in JSON is finished while the server closes', async () => {
  const { answerer, asked, go } = heldChat()
  const { app } = await testServer({ answerer })
  const answer = ask(await listen(app))
  await asked
  const closed = app.close()
  go()
  expect(await (await answer).json()).toEqual(chatAnswer)
  await closed
})

test('an error before anything was said is an ordinary one', async () => {
  const { request } = await testServer({ readableKb: () => Promise.reject(new GanglionError('unavailable')) })
  const { status, headers } = await request('POST', '/api/v1/chat', { as: 'app', body: question, headers: stream })
  expect([status, headers['content-type']]).toEqual([503, 'application/json; charset=utf-8'])
})
