import { expect, test } from 'vitest'
import { createAnswerer } from '../../src/chat/create-answerer.ts'
import { createKnowledgeBase } from '../../src/kb/create-kb.ts'
import { extractAnswerer } from '../chat/support/extract-answerer.ts'
import { fakeModel, says, saysAndWaits } from '../chat/support/fake-model.ts'
import { allEvents, readEvents } from '../http/support/events.ts'
import { type Product, startProduct } from './support.ts'

const route = '/api/v1/chat'
const question = { knowledgeBaseId: 'handbook', message: 'Who is paged when a VIP customer raises a ticket?' }

async function addNeuron({ request, tokens }: Product, title: string, content: string, tags: string[] = []) {
  const body = { kb: 'handbook', kind: 'external-feed', title, content, confidence: 1, metadata: { tags } }
  expect(await request('POST', '/api/v1/queue/candidates', { as: tokens.app, body })).toMatchObject({
    body: { status: 'approved' },
  })
}

async function withNeurons(options: Parameters<typeof startProduct>[0] = {}): Promise<Product> {
  const product = await startProduct(options)
  await addNeuron(product, 'VIP tickets', 'When a VIP customer raises a ticket, the on-call lead is paged at once.')
  await addNeuron(product, 'VIP secrets', 'When a VIP customer raises a ticket, the chairman is paged too.', [
    'internal',
  ])
  return product
}

/** A client that reads events; to be told when to go away. */
function streamed({ url, tokens }: Product, body: unknown, signal: AbortSignal | null = null): Promise<Response> {
  return fetch(url + route, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${tokens.app}`,
      'content-type': 'application/json',
      accept: 'text/event-stream',
    },
    body: JSON.stringify(body),
    signal,
  })
}

test('a question is answered from the knowledge base, with what it was read in', async () => {
  const product = await withNeurons()
  const { request, tokens } = product
  const { status, body } = await request('POST', route, { as: tokens.reader, body: question })
  expect(status).toBe(200)
  expect(body).toMatchObject({
    answer: expect.stringContaining('[handbook_00000001]'),
    sessionId: expect.any(String),
    turnId: expect.any(String),
    citations: [
      {
        seqId: 'handbook_00000001',
        title: 'VIP tickets',
        filename: expect.stringMatching(/^vip-tickets-[0-9a-f]{6}\.md$/),
      },
    ],
    answeredBy: 'extract',
  })
  expect(body.answer).toContain('the on-call lead is paged')
  expect(body.answer).not.toContain('chairman')
  const [citation] = Object(body.citations)
  expect(await request('GET', citation.url, { as: tokens.reader })).toMatchObject({
    status: 200,
    body: { documentId: citation.documentId, path: citation.path, commit: citation.commit },
  })
})

test('a question with an idempotency key has one answer and one session, as JSON or as a stream', async () => {
  const product = await withNeurons()
  const ask = async (key: string, accept: string, message = question.message) => {
    const response = await fetch(product.url + route, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${product.tokens.app}`,
        'content-type': 'application/json',
        'idempotency-key': key,
        accept,
      },
      body: JSON.stringify({ ...question, message }),
    })
    return accept === 'application/json'
      ? { status: response.status, answer: await response.json() }
      : { status: response.status, answer: (await allEvents(readEvents(response))).at(-1)?.data }
  }
  const first = await ask('a', 'application/json')
  expect(first).toMatchObject({ status: 200, answer: { sessionId: expect.any(String) } })
  expect(await ask('a', 'application/json')).toEqual(first)
  expect(await ask('a', 'text/event-stream')).toEqual(first)
  expect(await ask('b', 'application/json')).not.toEqual(first)
  expect((await ask('a', 'application/json', 'Who?')).status).toBe(422)
})

test('the same as a stream', async () => {
  const product = await withNeurons()
  const { body } = await product.request('POST', route, { as: product.tokens.app, body: question })
  const events = await allEvents(readEvents(await streamed(product, question)))
  expect(events.at(-1)).toEqual({
    event: 'done',
    data: { ...body, sessionId: expect.any(String), turnId: expect.any(String) },
  })
  const deltas = events.slice(0, -1)
  expect(deltas.every(({ event }) => event === 'delta')).toBe(true)
  expect(deltas.map(({ data }) => Object(data).text).join('')).toBe(body.answer)
})

test('what the knowledge base does not hold is refused', async () => {
  const { request, tokens } = await withNeurons()
  const { body } = await request('POST', route, {
    as: tokens.app,
    body: { ...question, message: 'How deep is the Mariana Trench?' },
  })
  expect(body).toMatchObject({ citations: [], answer: 'The knowledge base does not hold an answer to this.' })
})

test('a conversation goes on in its session', async () => {
  const { request, tokens } = await withNeurons()
  const first = await request('POST', route, { as: tokens.app, body: question })
  const { sessionId } = first.body
  const next = await request('POST', route, { as: tokens.reader, body: { sessionId, message: 'And who is that?' } })
  expect(next).toMatchObject({ status: 200, body: { sessionId } })
  expect(next.body.turnId).not.toBe(first.body.turnId)
})

test('a session of another tenant looks like one that never was, and so does its knowledge base', async () => {
  const product = await withNeurons()
  const { request, tokens, newKey, ctx } = product
  const { body } = await request('POST', route, { as: tokens.app, body: question })
  const { sessionId } = body
  const stranger = await newKey('other', 'curator')
  await createKnowledgeBase(ctx, { tenant: 'other', slug: 'theirs' })
  const never = await request('POST', route, {
    as: stranger,
    body: { message: 'Who?', sessionId: '019b9c9a-7a00-7b1c-8d2e-3f4a5b6c7d8e' },
  })
  expect(never.status).toBe(404)
  for (const asked of [
    { sessionId },
    { sessionId, kb: 'theirs' },
    { sessionId, kb: 'handbook' },
    { kb: product.kbId },
  ]) {
    for (const headers of [{}, { accept: 'text/event-stream' }]) {
      const { status, text } = await request('POST', route, {
        as: stranger,
        body: { message: 'Who?', ...asked },
        headers,
      })
      expect([asked, status, text]).toEqual([asked, 404, never.text])
    }
  }
})

test('a model that is configured answers, and only from what the caller may see', async () => {
  const model = await fakeModel(says('The lead', ' is paged. [handbook_00000001] [handbook_00000002]'))
  const answerer = createAnswerer(
    extractAnswerer,
    { url: model.url, model: 'small', apiKey: 'sk-1', timeoutMs: 20_000 },
    () => {},
  )
  const product = await withNeurons({ answerer })
  const events = await allEvents(readEvents(await streamed(product, { ...question, audience: 'curator' })))
  expect(events.at(-1)).toMatchObject({
    event: 'done',
    data: {
      answer: 'The lead is paged. [handbook_00000001]',
      answeredBy: 'small',
      citations: [{ title: 'VIP tickets' }],
    },
  })
  expect(JSON.stringify(model.requests)).not.toContain('chairman')
})

test('a client that goes away stops the model, and leaves no turn', async () => {
  const model = await fakeModel(saysAndWaits('The lead'))
  const answerer = createAnswerer(
    extractAnswerer,
    { url: model.url, model: 'small', apiKey: undefined, timeoutMs: 20_000 },
    () => {},
  )
  const product = await withNeurons({ answerer })
  const client = new AbortController()
  const events = readEvents(await streamed(product, question, client.signal))
  expect(await events.next()).toMatchObject({ value: { event: 'delta' } })
  const closed = model.closed()
  client.abort()
  await expect(events.next()).rejects.toThrow()
  await closed
})
