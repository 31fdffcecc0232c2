import { expect, test } from 'vitest'
import { GraphQuery } from '../../../src/contract/graph.ts'
import { NeuronListQuery } from '../../../src/contract/neurons.ts'
import { seqId, testServer } from '../support/test-server.ts'

const kbs = '/api/v1/knowledge-bases'
const neurons = `${kbs}/handbook/neurons`
const graph = `${kbs}/handbook/graph`

test.each(['reader', 'app', 'curator'] as const)(
  'a %s lists knowledge bases and Neurons, and reads graphs',
  async (as) => {
    const { request, neuron } = await testServer()
    const { title, path, tags, version, createdAt, updatedAt, documentId } = neuron
    const ok = (json: unknown) => expect.objectContaining({ status: 200, json })
    expect(await request('GET', kbs, { as })).toEqual(
      ok({ knowledgeBases: [expect.objectContaining({ slug: 'handbook' })] }),
    )
    expect(await request('GET', neurons, { as })).toEqual(
      ok({ neurons: [{ seqId, title, path, tags, version, createdAt, updatedAt, documentId }], nextCursor: null }),
    )
    expect(await request('GET', graph, { as })).toEqual(
      ok({ nodes: [{ seqId, title, path, tags }], edges: [], truncated: false }),
    )
  },
)

test('what a query leaves out has its default', () => {
  expect(NeuronListQuery.parse({})).toEqual({ limit: 50 })
  expect(GraphQuery.parse({})).toEqual({ depth: 1, limit: 200 })
})

test.each([
  ...['limit=0', 'limit=101', 'limit=1e2', 'limit=', 'tag=', `tag=${'x'.repeat(201)}`, 'tag=a&tag=b'].map(
    (query) => `${neurons}?${query}`,
  ),
  ...['cursor=', `cursor=${'x'.repeat(501)}`].map((query) => `${neurons}?${query}`),
  ...['depth=0', 'depth=6', 'depth=1.0', 'limit=0', 'limit=1001', 'limit=-1', 'limit=0x10'].map(
    (query) => `${graph}?${query}`,
  ),
  ...['around=', 'around=handbook', `around=${seqId}&around=${seqId}`].map((query) => `${graph}?${query}`),
])('%s is refused', async (url) => {
  const { request } = await testServer()
  expect((await request('GET', url, { as: 'reader' })).status).toBe(400)
})

test('a path that names no knowledge base has the same answer, byte for byte, whatever is wrong with it', async () => {
  const { request } = await testServer()
  const missing = await request('GET', `${kbs}/nowhere/neurons`, { as: 'reader' })
  expect(missing.status).toBe(404)
  for (const kb of ['Handbook', '%C3%A9', 'a%2Fb', 'a%00b', '..%2f', 'x'.repeat(101), 'a_b', '%ff']) {
    for (const what of ['neurons', 'graph', 'nothing']) {
      const { status, text } = await request('GET', `${kbs}/${kb}/${what}`, { as: 'reader' })
      expect([kb, what, status, text]).toEqual([kb, what, 404, missing.text])
    }
  }
})

test.each([kbs, neurons, graph])('%s is for bearers of a token only, and for reading', async (url) => {
  const { request } = await testServer()
  expect((await request('GET', url)).status).toBe(401)
  expect((await request('POST', url, { as: 'curator', body: {} })).status).toBe(405)
})
