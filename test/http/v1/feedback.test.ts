import { expect, test } from 'vitest'
import { testServer } from '../support/test-server.ts'

const route = '/api/v1/knowledge-bases/handbook/reader-feedback'
const feedback = { vote: 'up', question: 'Who is paged?', answer: 'The lead.' }

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
  const { request, acts } = await testServer()
  const { status, json } = await request('POST', route, { as: 'app', body: { ...feedback, ...changes } })
  const error = { formErrors: [], fieldErrors: { [field]: expect.any(Array) } }
  expect([status, json]).toEqual([400, { error, message: expect.stringMatching(/^The [a-z ]+ must .*\.$/) }])
  expect(acts).toEqual([])
})

test('what is just within bounds is taken, and kept', async () => {
  const { request } = await testServer()
  const body = {
    vote: 'flag',
    question: 'é'.repeat(2000),
    answer: '🙂'.repeat(50_000),
    reason: 'x'.repeat(2000),
    category: 'tone',
    pageUrl: 'x'.repeat(500),
    citations: [],
  }
  const { status, json } = await request('POST', route, { as: 'curator', body })
  expect(status).toBe(201)
  const kept = await request('GET', `/api/v1/queue/candidates/${Object(json).candidateId}`, { as: 'curator' })
  expect(JSON.parse(Object(kept.json).metadata)).toMatchObject({ category: 'tone', pageUrl: body.pageUrl })
})

test('a vote that replaces one of the same turn revises it, and only the key that asked may', async () => {
  const { request } = await testServer()
  const asked = await request('POST', '/api/v1/chat', { as: 'app', body: { kb: 'handbook', message: 'Who is paged?' } })
  const { sessionId, turnId } = Object(asked.json)
  const vote = async (vote: string, more: object = {}, as: 'app' | 'curator' = 'app') => {
    const body = { ...feedback, ...{ vote, reason: 'No.', sessionId, turnId, replaces: true }, ...more }
    const { status, json } = await request('POST', route, { as, body })
    return { code: status, ...Object(json) }
  }
  expect(await vote('none')).toMatchObject({ code: 404 })
  const first = await vote('up')
  expect(await vote('down')).toEqual(first)
  const detail = await request('GET', `/api/v1/queue/candidates/${first.candidateId}`, { as: 'curator' })
  expect(detail.json).toMatchObject({ version: 2, content: expect.stringContaining('Vote: down') })
  // Others, and those who do not ask for it, add a vote of their own.
  const others = [await vote('down', {}, 'curator'), await vote('down', { replaces: false })]
  expect(others).toMatchObject([{ code: 201 }, { code: 201 }])
  expect(others.map(({ candidateId }) => candidateId)).not.toContain(first.candidateId)
  expect(await vote('none', {}, 'curator')).toMatchObject({ code: 404 })
  for (const more of [{ replaces: false }, { turnId: undefined }, { sessionId: undefined }])
    expect(await vote('none', more)).toMatchObject({
      code: 400,
      error: { fieldErrors: { vote: [expect.any(String)] } },
    })
  expect(await vote('none')).toMatchObject({ code: 201, candidateId: first.candidateId, status: 'dismissed' })
})

test('whom it is open to', async () => {
  const { request } = await testServer()
  expect((await request('POST', route, { body: feedback })).status).toBe(401)
  expect((await request('POST', route, { as: 'reader', body: feedback })).status).toBe(403)
  expect((await request('POST', route, { as: 'curator', body: feedback })).status).toBe(201)
  expect((await request('POST', route.replace('handbook', 'other'), { as: 'app', body: feedback })).status).toBe(404)
  expect((await request('POST', route.replace('handbook', 'A'), { as: 'app', body: feedback })).status).toBe(404)
})
