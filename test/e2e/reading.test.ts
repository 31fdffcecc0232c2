import { expect, test } from 'vitest'
import { createKnowledgeBase } from '../../src/kb/create-kb.ts'
import { startProduct } from './support.ts'

const kbs = '/api/v1/knowledge-bases'
const seq = (number: number) => `handbook_${String(number).padStart(8, '0')}`

async function productWithPages() {
  const product = await startProduct()
  const { request, tokens } = product
  const approve = async (title: string, content: string, tags: string[] = []) => {
    const candidate = { knowledgeBaseId: 'handbook', kind: 'external-feed', title, content, metadata: { tags } }
    const { body } = await request('POST', '/api/v1/queue/candidates', {
      as: tokens.app,
      body: { ...candidate, confidence: 1 },
    })
    return body.seqId
  }
  await approve('Escalation', 'See [[On call]], [[Secret plan]] and [[kb:wiki/Guide]].', ['Policy'])
  await approve('Secret plan', 'For [[Escalation]] and [[On call]].', ['internal', 'policy'])
  return { ...product, approve }
}

test('links heal, and backlinks and graphs follow, as pages are approved', async () => {
  const { request, tokens, approve } = await productWithPages()
  const read = async (number: number, as = tokens.reader) =>
    (await request('GET', `/api/v1/neurons/handbook/${seq(number)}`, { as })).body
  const missing = (target: string, more = {}) => ({ target, type: 'cites', reason: 'missing', line: 1, ...more })
  expect(await read(1)).toMatchObject({
    links: [],
    backlinks: [],
    unresolved: [missing('On call'), missing('Secret plan'), missing('Guide', { kb: 'wiki' })],
  })
  expect(await approve('On call', 'Who is [[contradicts:Escalation]]?', ['POLICY'])).toBe(seq(3))
  expect(await read(1)).toMatchObject({
    links: [{ type: 'cites', target: seq(3) }],
    backlinks: [{ seqId: seq(3), title: 'On call', type: 'contradicts' }],
    unresolved: [missing('Secret plan'), missing('Guide', { kb: 'wiki' })],
  })
  const graph = async (query: string, as: string) =>
    (await request('GET', `${kbs}/handbook/graph${query}`, { as })).body
  const edges = [
    { source: seq(1), target: seq(3), type: 'cites' },
    { source: seq(3), target: seq(1), type: 'contradicts' },
  ]
  const nodes = [{ seqId: seq(1) }, { seqId: seq(3) }]
  expect(await graph('', tokens.reader)).toMatchObject({ nodes, edges, truncated: false })
  expect(await graph(`?around=${seq(1)}&depth=5`, tokens.app)).toMatchObject({ nodes, edges, truncated: false })
  expect((await graph('?limit=2', tokens.curator)).truncated).toBe(true)
  expect((await graph('', tokens.curator)).nodes).toHaveLength(3)
  expect((await request('GET', `${kbs}/handbook/graph?around=${seq(2)}`, { as: tokens.app })).status).toBe(404)
})

test('Neurons and knowledge bases are listed for those who may see them', async () => {
  const { request, tokens, approve, ctx, kbId, newKey } = await productWithPages()
  await approve('On call', 'Rota.', ['POLICY'])
  const list = async (query: string, as: string) => {
    const { status, body } = await request('GET', `${kbs}/${kbId}/neurons?${query}`, { as })
    const { neurons = [], nextCursor } = body as { neurons?: { seqId: string }[]; nextCursor?: string }
    return { status, seqIds: neurons.map(({ seqId }) => seqId), nextCursor }
  }
  const upper = await request('GET', `${kbs}/${kbId.toUpperCase()}/neurons`, { as: tokens.reader })
  expect([upper.status, upper.body]).toEqual([
    200,
    (await request('GET', `${kbs}/handbook/neurons`, { as: tokens.reader })).body,
  ])
  for (const route of ['queue/candidates?', 'search?q=rota&']) {
    const of = (kb: string) => request('GET', `/api/v1/${route}kb=${kb}`, { as: tokens.curator })
    const { status, body } = await of(kbId.toUpperCase())
    expect([status, body]).toEqual([200, (await of('handbook')).body])
  }
  const first = await list('tag=policy&limit=1', tokens.reader)
  expect(first).toMatchObject({ status: 200, seqIds: [seq(1)] })
  expect(await list(`tag=policy&limit=1&cursor=${first.nextCursor}`, tokens.reader)).toEqual({
    status: 200,
    seqIds: [seq(3)],
    nextCursor: null,
  })
  expect((await list('tag=policy', tokens.curator)).seqIds).toEqual([seq(1), seq(2), seq(3)])
  expect((await list('cursor=nonsense', tokens.reader)).status).toBe(400)

  await createKnowledgeBase(ctx, { tenant: 'rival', slug: 'diary' })
  const rival = await newKey('rival', 'curator')
  const slugs = async (as: string) => {
    const { body } = await request('GET', kbs, { as })
    return (body.knowledgeBases as { slug: string }[]).map(({ slug }) => slug)
  }
  expect([await slugs(tokens.reader), await slugs(rival)]).toEqual([['handbook'], ['diary']])
  const missing = await request('GET', `${kbs}/nowhere/neurons`, { as: rival })
  for (const path of [`handbook/neurons`, `${kbId}/neurons`, 'handbook/graph', `${kbId}/graph?around=${seq(1)}`]) {
    const { status, text } = await request('GET', `${kbs}/${path}`, { as: rival })
    expect([path, status, text]).toEqual([path, 404, missing.text])
  }
})
