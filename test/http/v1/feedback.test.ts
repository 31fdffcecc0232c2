import { expect, test } from 'vitest'
import { GanglionError } from '../../../src/contract/errors.ts'
import { testServer } from '../support/test-server.ts'

const route = '/api/v1/knowledge-bases/handbook/reader-feedback'
const feedback = { vote: 'up', question: 'Who is paged?', answer: 'The lead.' }

test('feedback is answered with its candidate', async () => {
  const { request, services } = await testServer()
  const whole = {
    ...feedback,
    vote: 'down',
    citations: [{ documentId: 'abc', path: 'neurons/vip.md', filename: 'vip.md' }],
    sessionId: 's',
    turnId: 't',
    reason: 'It is two leads.',
    category: 'wrong-info',
    pageUrl: 'https://example.org/help',
  }
  const { status, json } = await request('POST', route, {
    as: 'app',
    body: whole,
    headers: { 'idempotency-key': 'once' },
  })
  expect([status, json]).toEqual([
    201,
    { candidateId: expect.any(String), status: 'pending', queueUrl: expect.stringMatching(/^\/queue\//) },
  ])
  expect(services.feedback).toEqual([{ kb: 'handbook', feedback: whole, idempotencyKey: 'once' }])
})

test.each<[string, Record<string, unknown>]>([
  ['vote', { vote: undefined }],
  ['vote', { vote: 'UP' }],
  ['vote', { vote: 1 }],
  ['question', { question: undefined }],
  ['question', { question: '' }],
  ['question', { question: 'x'.repeat(2001) }],
  ['question', { question: 'a\0b' }],
  ['answer', { answer: undefined }],
  ['answer', { answer: '' }],
  ['answer', { answer: 'x'.repeat(50_001) }],
  ['answer', { answer: 'a\ud800b' }],
  ['citations', { citations: 'vip.md' }],
  ['citations', { citations: [{ documentId: 'abc', path: '/' }] }],
  ['citations', { citations: [{ documentId: 1, path: '/', filename: 'a' }] }],
  ['sessionId', { sessionId: 7 }],
  ['turnId', { turnId: 7 }],
  ['reason', { vote: 'down', reason: 'x'.repeat(2001) }],
  ['reason', { vote: 'down', reason: 7 }],
  ['category', { category: 'Tone' }],
  ['pageUrl', { pageUrl: 'x'.repeat(501) }],
])('a bad %s is 400: %.60j', async (field, changes) => {
  const { request, services } = await testServer()
  const { status, json } = await request('POST', route, { as: 'app', body: { ...feedback, ...changes } })
  expect([status, json]).toEqual([400, { error: { formErrors: [], fieldErrors: { [field]: expect.any(Array) } } }])
  expect(services.feedback).toEqual([])
})

test('what is just within bounds is taken', async () => {
  const { request } = await testServer()
  const body = {
    vote: 'flag',
    question: 'é'.repeat(2000),
    answer: '🙂'.repeat(50_000),
    reason: 'x'.repeat(2000),
    pageUrl: 'x'.repeat(500),
    citations: [],
  }
  expect((await request('POST', route, { as: 'curator', body })).status).toBe(201)
})

test('a negative vote without a reason is told by its own word', async () => {
  const { request } = await testServer({
    async submitFeedback() {
      throw new GanglionError('reason_required_for_negative_vote')
    },
  })
  const { status, json } = await request('POST', route, { as: 'app', body: { ...feedback, vote: 'down' } })
  expect([status, json]).toEqual([400, { error: 'reason_required_for_negative_vote', message: expect.any(String) }])
})

test('whom it is open to', async () => {
  const { request } = await testServer()
  expect((await request('POST', route, { body: feedback })).status).toBe(401)
  expect((await request('POST', route, { as: 'reader', body: feedback })).status).toBe(403)
  expect((await request('POST', route, { as: 'curator', body: feedback })).status).toBe(201)
  expect((await request('POST', route.replace('handbook', 'other'), { as: 'app', body: feedback })).status).toBe(404)
  expect((await request('POST', route.replace('handbook', 'A'), { as: 'app', body: feedback })).status).toBe(404)
})
