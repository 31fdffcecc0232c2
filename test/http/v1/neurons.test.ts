import { expect, test, vi } from 'vitest'
import { neuronAnswers } from '../../../src/pages/neuron-answers.ts'
import { neuronPath as path, testServer } from '../support/test-server.ts'

test.each(['reader', 'app', 'curator'] as const)('a %s reads a Neuron', async (as) => {
  const { request, neuron } = await testServer()
  const { status, json } = await request('GET', path, { as })
  expect(status).toBe(200)
  expect(json).toEqual(neuron)
})

test('a Neuron is read as it stood at a commit', async () => {
  const { request, neuron } = await testServer()
  const at = neuron.commit.slice(0, 8)
  expect((await request('GET', `${path}?at=${at}`, { as: 'reader' })).json).toMatchObject({ commit: neuron.commit })
  expect((await request('GET', `${path}?at=abcdef12`, { as: 'reader' })).status).toBe(404)
})

test.each(['at=main', 'at=', 'at=abc', 'at=HEAD~1', 'at=abcd&at=abce', `at=${'a'.repeat(65)}`])(
  'the query %s is refused',
  async (query) => {
    const { request } = await testServer()
    expect((await request('GET', `${path}?${query}`, { as: 'reader' })).status).toBe(400)
  },
)

test('an answer holds nothing that the schema does not know', async () => {
  const { request, ctx, neuron } = await testServer()
  const more = { ...neuron, blob: 'secret' }
  vi.spyOn(neuronAnswers(ctx), 'get').mockResolvedValueOnce(more)
  expect((await request('GET', path, { as: 'reader' })).json).toEqual(neuron)
})

test('a path that names no Neuron has the same answer, byte for byte, whatever is wrong with it', async () => {
  const { request } = await testServer()
  const missing = await request('GET', '/api/v1/neurons/handbook/handbook_00000001', { as: 'reader' })
  expect(missing.status).toBe(404)
  const kbs = [
    'A',
    'Handbook',
    'e%CC%81',
    '%C3%A9',
    'a%2Fb',
    'a%00b',
    '..%2f',
    '%2e%2e',
    'x'.repeat(101),
    '-a',
    'a_b',
    '%ff',
    'a%',
  ]
  const seqIds = [
    '1',
    'handbook_1',
    'HANDBOOK_00000042',
    'handbook_00000042%0a',
    'handbook_000000420',
    '%ff',
    '%00',
    'x'.repeat(9000),
  ]
  for (const bad of [
    ...kbs.map((kb) => `/api/v1/neurons/${kb}/handbook_00000042`),
    ...seqIds.map((seqId) => `/api/v1/neurons/handbook/${seqId}`),
  ]) {
    const { status, text } = await request('GET', bad, { as: 'reader' })
    expect([bad.slice(0, 60), status, text]).toEqual([bad.slice(0, 60), 404, missing.text])
  }
})

test('HEAD gives the headers of GET without its body', async () => {
  const { request } = await testServer()
  const { headers } = await request('GET', path, { as: 'reader' })
  const head = await request('HEAD', path, { as: 'reader' })
  expect([head.status, head.text, head.headers['content-length']]).toEqual([200, '', headers['content-length']])
})

test('an answer is tagged by its bytes, and not sent to whom has it', async () => {
  const { request, neuron } = await testServer()
  const { status, headers, json } = await request('GET', path, { as: 'reader' })
  const { etag = '' } = headers
  expect({ status, json }).toEqual({ status: 200, json: neuron })
  expect(headers).toMatchObject({
    etag: expect.stringMatching(/^"[0-9a-f]{40}\.[\w-]{43}"$/),
    'cache-control': 'private, no-cache',
  })
  for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
    const again = await request('GET', path, { as: 'reader', headers: { 'if-none-match': known } })
    // A weak tag is that of a compressed answer.
    const kept = known.startsWith('W/') ? known : etag
    expect(again).toMatchObject({ status: 304, text: '', headers: { etag: kept } })
    expect(again.headers).not.toHaveProperty('content-type')
  }
  for (const other of ['"other"', etag.slice(1, -1), '']) {
    expect((await request('GET', path, { as: 'reader', headers: { 'if-none-match': other } })).status).toBe(200)
  }
})

test('HEAD has the headers of GET, and no body', async () => {
  const { request } = await testServer()
  const { headers, text } = await request('GET', path, { as: 'reader' })
  const { etag = '' } = headers
  const length = String(Buffer.byteLength(text))
  const head = await request('HEAD', path, { as: 'reader' })
  expect(head).toMatchObject({ status: 200, text: '', headers: { etag, 'content-length': length } })
  const known = await request('HEAD', path, { as: 'reader', headers: { 'if-none-match': etag } })
  expect(known).toMatchObject({ status: 304, text: '', headers: { etag, 'content-length': length } })
})

test('another answer has another tag, also where one object answers twice', async () => {
  const { request, ctx, neuron } = await testServer()
  const tagOf = async () => (await request('GET', path, { as: 'reader' })).headers.etag
  const first = await tagOf()
  expect(await tagOf()).toBe(first)
  vi.spyOn(neuronAnswers(ctx), 'get').mockResolvedValueOnce({ ...neuron, title: 'Another' })
  expect(await tagOf()).not.toBe(first)
  expect(await tagOf()).toBe(first)
})

test('a tag opens nothing: without a key, or where there is nothing, the answer is the same as without it', async () => {
  const { request } = await testServer()
  const missing = '/api/v1/neurons/handbook/handbook_00000001'
  for (const tag of ['*', String((await request('GET', path, { as: 'reader' })).headers.etag)]) {
    const headers = { 'if-none-match': tag }
    expect((await request('GET', path, { headers })).status).toBe(401)
    expect((await request('GET', missing, { as: 'reader', headers })).status).toBe(404)
  }
})
