import { expect, test } from 'vitest'
import { neuron } from './support/fake-services.ts'
import { testServer } from './support/test-server.ts'

const path = '/api/v1/neurons/handbook/handbook_00000042'

test.each(['reader', 'app', 'curator'] as const)('a %s reads a Neuron', async (as) => {
  const { request } = await testServer()
  const { status, json } = await request('GET', path, { as })
  expect(status).toBe(200)
  expect(json).toEqual(neuron)
})

test('a Neuron is read as it stood at a commit', async () => {
  const { request } = await testServer()
  expect((await request('GET', `${path}?at=abcdef12`, { as: 'reader' })).json).toMatchObject({
    commit: 'abcdef12'.padEnd(40, '0'),
  })
})

test.each(['at=main', 'at=', 'at=abc', 'at=HEAD~1', 'at=abcd&at=abce', `at=${'a'.repeat(65)}`])(
  'the query %s is refused',
  async (query) => {
    const { request } = await testServer()
    expect((await request('GET', `${path}?${query}`, { as: 'reader' })).status).toBe(400)
  },
)

test('an answer holds nothing that the schema does not know', async () => {
  const { request } = await testServer({ readNeuron: async () => ({ ...neuron, blob: 'secret' }) })
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
