import { expect, test, vi } from 'vitest'
import { GanglionError } from '../../../src/contract/errors.ts'
import { neuronAnswers } from '../../../src/pages/neuron-answers.ts'
import { neuronPath, testServer } from '../support/test-server.ts'

const queue = '/api/v1/queue/candidates'

test.each([
  ['/nothing', 404, 'not_found'],
  ['/%ff', 400, 'malformed_request'],
  [`/${'x'.repeat(10_000)}`, 404, 'not_found'],
  ['//', 404, 'not_found'],
  ['/docs/static/nothing.js', 404, 'not_found'],
  ['/docs/static/..%2f..%2fpackage.json', 404, 'not_found'],
])('the path %.30s is %i', async (url, status, error) => {
  const { request } = await testServer()
  const answer = await request('GET', url)
  expect([answer.status, answer.json]).toEqual([status, expect.objectContaining({ error })])
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
})

test.each([
  ['malformed JSON', '{"title":'],
  ['a key of an object’s prototype', '{"kb":"handbook","__proto__":{"a":1}}'],
  ['such a key in the metadata', '{"kb":"handbook","metadata":{"a":[{"constructor":{"prototype":{"b":1}}}]}}'],
  ['21 levels', `{"metadata":${'['.repeat(20)}${']'.repeat(20)}}`],
  ['100,000 levels', '['.repeat(100_000) + ']'.repeat(100_000)],
  ['1,001 keys', JSON.stringify(Object.fromEntries(Array.from({ length: 1001 }, (_, n) => [`k${n}`, n])))],
  ['1,001 keys of many objects', JSON.stringify({ a: Array.from({ length: 1000 }, (_, n) => ({ n })) })],
  ['2 MB of brackets', '['.repeat(2_000_000)],
  ['10,001 values', JSON.stringify({ metadata: Array(10_001).fill(1) })],
])('a body of %s is 400', async (_, body) => {
  const { request } = await testServer()
  const { status, json } = await request('POST', queue, { as: 'app', body })
  expect([status, json]).toEqual([400, expect.objectContaining({ error: 'malformed_request' })])
  expect(Object('x').polluted).toBeUndefined()
})

test('2 MB of hostile JSON are refused', async () => {
  const { request } = await testServer()
  await request('POST', queue, { as: 'app', body: '[' })
  const shapes = ['['.repeat(2_000_000), `[${'[],'.repeat(600_000)}[]]`, `[${'{"a":1},'.repeat(200_000)}{}]`]
  for (const body of shapes) expect((await request('POST', queue, { as: 'app', body })).status).toBe(400)
})

test('a body that is no object is called so', async () => {
  const { request } = await testServer()
  expect((await request('POST', `${queue}/batch`, { as: 'app', body: [] })).json).toEqual({
    error: { formErrors: ['must be an object'], fieldErrors: {} },
    message: 'The body must be an object.',
  })
})

test('20 levels and 1,000 keys are read, though as metadata they are too many', async () => {
  const { request } = await testServer()
  const keys = Object.fromEntries(Array.from({ length: 995 }, (_, n) => [`k${n}`, n]))
  const base = { kb: 'handbook', kind: 'chat', title: 'x', content: 'y' }
  const refused = {
    error: { formErrors: [], fieldErrors: { metadata: [expect.any(String)] } },
    message: expect.stringMatching(/^The metadata .*\.$/),
  }
  expect((await request('POST', queue, { as: 'app', body: { ...base, metadata: keys } })).json).toEqual(refused)
  const nested = JSON.parse(`{"a":${'['.repeat(18)}${']'.repeat(18)}}`)
  expect((await request('POST', queue, { as: 'app', body: { ...base, metadata: nested } })).json).toEqual(refused)
})

test('bytes that are not UTF-8 are 400', async () => {
  const { app } = await testServer()
  const headers = { authorization: 'Bearer app', 'content-type': 'application/json' }
  const payload = Buffer.from('7b226b62223a22ff227d', 'hex')
  const { statusCode } = await app.inject({ method: 'POST', url: queue, headers, payload })
  expect(statusCode).toBe(400)
})

test.each(['1e400', '-1e400'])('the number %s is no confidence', async (number) => {
  const { request } = await testServer()
  const body = `{"kb":"handbook","kind":"chat","title":"x","content":"y","confidence":${number}}`
  expect((await request('POST', queue, { as: 'app', body })).json).toMatchObject({
    error: { fieldErrors: { confidence: [expect.any(String)] } },
  })
})

test.each([
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/xml',
  'json',
])('a body of type %s is 415', async (type) => {
  const { request } = await testServer()
  const { status, json } = await request('POST', queue, { as: 'app', body: '{}', headers: { 'content-type': type } })
  expect([status, json]).toEqual([415, expect.objectContaining({ error: 'unsupported_media_type' })])
})

test('a body over 2 MB is 413', async () => {
  const { request, acts } = await testServer()
  const { status, json } = await request('POST', queue, { as: 'app', body: ' '.repeat(2 * 1024 * 1024 + 1) })
  expect([status, json]).toEqual([413, expect.objectContaining({ error: 'payload_too_large' })])
  expect(acts).toEqual([])
})

test("a service's refusal keeps its code and words", async () => {
  const { request, ctx } = await testServer()
  vi.spyOn(ctx, 'kb').mockRejectedValueOnce(new GanglionError('queue_full', 'Decide on some first.'))
  const body = { kb: 'handbook', kind: 'chat', title: 'x', content: 'y' }
  const { status, json, headers } = await request('POST', queue, { as: 'app', body })
  expect([status, json]).toEqual([429, { error: 'queue_full', message: 'Decide on some first.' }])
  expect(Number(headers['retry-after'])).toBeGreaterThan(0)
})

test("a service's validation error is answered as the schema's is", async () => {
  const { request } = await testServer()
  const { status, json } = await request('GET', `${queue}?cursor=x`, { as: 'curator' })
  expect(status).toBe(400)
  expect(json).toEqual({
    error: { formErrors: [], fieldErrors: { cursor: ['must come from an earlier answer'] } },
    message: 'The cursor must come from an earlier answer.',
  })
})

test('what is not found has the same bytes, whatever the service says of it', async () => {
  const { request, ctx } = await testServer()
  const refusal = new GanglionError('not_found', 'It is in the knowledge base of B.', { tenantId: 'B' })
  vi.spyOn(neuronAnswers(ctx), 'get').mockRejectedValueOnce(refusal)
  const { text } = await request('GET', neuronPath, { as: 'reader' })
  expect(text).toBe((await request('GET', '/nothing')).text)
})

const secret = '/var/lib/ganglion/repos: SQLITE_ERROR: fatal: not a git repository'

test.each<[string, unknown]>([
  ['an Error', new Error(secret)],
  ['an Error that names a status', Object.assign(new Error(secret), { statusCode: 400, code: secret })],
  ['a text', secret],
  ['nothing', undefined],
  ['an internal error with words of its own', new GanglionError('internal', secret, { secret })],
])('%s of a service is a 500 that tells nothing, logged with the id of the request', async (_, error) => {
  const lines: string[] = []
  const log = { level: 'info', stream: { write: (line: string) => void lines.push(line) } } as const
  const { request, ctx } = await testServer({}, { log })
  vi.spyOn(neuronAnswers(ctx), 'get').mockRejectedValueOnce(error)
  const { status, text, headers } = await request('GET', neuronPath, { as: 'reader' })
  expect(status).toBe(500)
  expect(text).toBe('{"error":"internal","message":"Something went wrong on our side."}')
  const logged = lines.map((line): unknown => JSON.parse(line)).filter((line) => Object(line).level === 50)
  expect(logged).toEqual([expect.objectContaining({ reqId: headers['x-request-id'] })])
})

test('an answer that breaks its own schema is a 500', async () => {
  const { request, ctx, neuron } = await testServer()
  vi.spyOn(neuronAnswers(ctx), 'get').mockResolvedValueOnce({ ...neuron, version: 0.5 })
  const { status, text } = await request('GET', neuronPath, { as: 'reader' })
  expect([status, text]).toEqual([500, '{"error":"internal","message":"Something went wrong on our side."}'])
})

test('the line of a request names the key and the tenant by their ids', async () => {
  const lines: string[] = []
  const log = { level: 'info', stream: { write: (line: string) => void lines.push(line) } } as const
  const { request, ctx } = await testServer({}, { log })
  await request('GET', '/api/v1/knowledge-bases', { as: 'reader' })
  await request('GET', '/api/v1/knowledge-bases')
  const tenants = (await ctx.tenants.list()).map(({ id }) => id)
  const [known, unknown] = lines
    .map((line) => Object(JSON.parse(line)))
    .filter(({ msg }) => msg === 'request completed')
  expect(known.caller).toMatch(/^key:/)
  expect(tenants).toContain(known.tenant)
  expect(unknown).not.toHaveProperty('caller')
})
