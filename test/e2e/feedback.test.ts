import { expect, test } from 'vitest'
import { startProduct } from './support.ts'

const route = '/api/v1/knowledge-bases/handbook/reader-feedback'
const negative = { vote: 'down', question: 'Who is paged?', answer: 'Nobody.' }

test('feedback on an answer waits in the queue, and names what the answer cited', async () => {
  const { request, tokens } = await startProduct()
  const neuron = {
    kb: 'handbook',
    kind: 'external-feed',
    title: 'VIP tickets',
    content: 'The lead is paged.',
    confidence: 1,
  }
  await request('POST', '/api/v1/queue/candidates', { as: tokens.app, body: neuron })
  const question = { kb: 'handbook', message: 'Who is paged?' }
  const { body: answer } = await request('POST', '/api/v1/chat', { as: tokens.app, body: question })
  const { sessionId, turnId, citations } = answer
  const feedback = { ...negative, answer: answer.answer, sessionId, turnId, citations, reason: 'It is two leads.' }
  const { status, body } = await request('POST', route, { as: tokens.app, body: feedback })
  expect([status, body]).toEqual([
    201,
    { candidateId: expect.any(String), status: 'pending', queueUrl: `/queue/${body.candidateId}` },
  ])
  const found = await request('GET', `/api/v1/queue/candidates/${body.candidateId}`, { as: tokens.curator })
  expect(found.body).toMatchObject({
    kind: 'reader-feedback',
    title: 'Feedback: Who is paged?',
    connector: 'reader-feedback',
    confidence: 0.3,
    content: expect.stringContaining('- [[handbook_00000001|VIP tickets]]'),
  })
  expect(JSON.parse(String(found.body.metadata))).toMatchObject({ conversationId: sessionId, sourceTurnId: turnId })
})

test('a flag is in the red zone', async () => {
  const { request, tokens } = await startProduct()
  const body = { ...negative, vote: 'flag', reason: 'It is harmful.' }
  await request('POST', route, { as: tokens.app, body })
  const { body: page } = await request('GET', '/api/v1/queue/candidates?kind=reader-feedback', { as: tokens.curator })
  expect(page).toMatchObject({ candidates: [{ zone: 'red', status: 'pending' }] })
})

test.each([{}, { reason: '' }, { reason: ' \n ' }])(
  'a negative vote with %j for a reason is refused',
  async (changes) => {
    const { request, tokens } = await startProduct()
    for (const vote of ['down', 'flag']) {
      const { status, body } = await request('POST', route, { as: tokens.app, body: { ...negative, vote, ...changes } })
      expect([status, body.error]).toEqual([400, 'reason_required_for_negative_vote'])
    }
    const { body } = await request('GET', '/api/v1/queue/candidates', { as: tokens.curator })
    expect(body.candidates).toEqual([])
  },
)

test('the same idempotency key gives one candidate', async () => {
  const { request, tokens } = await startProduct()
  const send = { as: tokens.app, body: { ...negative, vote: 'up' }, headers: { 'idempotency-key': 'once' } }
  const first = await request('POST', route, send)
  expect((await request('POST', route, send)).body).toEqual(first.body)
  expect((await request('POST', route, { ...send, body: { ...send.body, answer: 'x' } })).status).toBe(422)
  const candidate = { kb: 'handbook', kind: 'chat', title: 'x', content: 'y' }
  expect((await request('POST', '/api/v1/queue/candidates', { ...send, body: candidate })).status).toBe(422)
})

test('another tenant’s knowledge base is not there, whatever session is named', async () => {
  const { request, newKey } = await startProduct()
  const stranger = await newKey('other', 'app')
  const body = { ...negative, vote: 'up', sessionId: 'anything' }
  expect((await request('POST', route, { as: stranger, body })).status).toBe(404)
  expect((await request('POST', route, { as: stranger, body: negative })).status).toBe(404)
})
