import { expect, test } from 'vitest'
import { createKnowledgeBase } from '../../src/kb/create-kb.ts'
import { startProduct } from './support.ts'

const bases = '/api/v1/knowledge-bases'

async function withNeuron() {
  const product = await startProduct()
  const { request, tokens } = product
  const body = {
    knowledgeBaseId: 'handbook',
    kind: 'external-feed',
    title: 'VIP policy',
    content: 'Page the <b>lead</b>.',
  }
  const { body: receipt } = await request('POST', '/api/v1/queue/candidates', { as: tokens.app, body })
  const approval = await request('POST', `/api/v1/queue/candidates/${receipt.candidateId}/approve`, {
    as: tokens.curator,
  })
  return { ...product, approval: approval.body }
}

test('a Neuron is found by both routes, with what the contract says of a hit', async () => {
  const { request, tokens, kbId, approval } = await withNeuron()
  const scoped = await request('GET', `${bases}/handbook/search?q=paging`, { as: tokens.reader })
  expect(scoped).toMatchObject({ status: 200 })
  expect(scoped.body).toEqual({
    documents: [
      {
        id: approval.documentId,
        knowledgeBaseId: kbId,
        filename: expect.stringMatching(/^vip-policy-[0-9a-f]{6}\.md$/),
        title: 'VIP policy',
        path: expect.stringMatching(/^neurons\/.*vip-policy-[0-9a-f]{6}\.md$/),
        kind: 'wiki',
        seq: 1,
        seqId: 'handbook_00000001',
        highlight: '<mark>Page</mark> the lead.',
        rank: 1,
      },
    ],
    matched: 'all',
  })
  const tenant = await request('GET', `/api/v1/search?kb=${kbId}&q=paging`, { as: tokens.app })
  expect(tenant.body).toMatchObject({
    total: 1,
    hits: [{ seqId: 'handbook_00000001', title: 'VIP policy', kind: 'wiki' }],
  })
  const sources = await request('GET', `${bases}/${kbId}/search?q=paging&kind=source`, { as: tokens.app })
  expect(sources.body).toEqual({ documents: [], matched: 'all' })
})

test('retrieve answers 200 with chunks and a context', async () => {
  const { request, tokens, approval } = await withNeuron()
  const { status, body } = await request('POST', `${bases}/handbook/retrieve`, {
    as: tokens.reader,
    body: { query: 'Who is paged?', maxChars: 100 },
  })
  expect(status).toBe(200)
  expect(body).toMatchObject({
    hitCount: 1,
    totalChars: 21,
    chunks: [
      { documentId: approval.documentId, seqId: 'handbook_00000001', content: 'Page the <b>lead</b>.', rank: 1 },
    ],
  })
  expect(body.formattedContext).toBe('[handbook_00000001] VIP policy\n> Page the <b>lead</b>.')
})

test.each([
  '',
  '?q=',
  '?q=a&q=b',
  '?q[]=a',
  `?q=${'x'.repeat(513)}`,
  `?q=${encodeURIComponent('\ufdfa'.repeat(29))}`,
  `?q=${Array.from({ length: 33 }, (_, n) => `w${n}`).join('+')}`,
  '?q=a*',
  '?q=a&limit=0',
  '?q=a&limit=101',
  '?q=a&limit=1e2',
  '?q=a&kind=neuron',
])('a search of %s is refused with what is wrong', async (query) => {
  const { request, tokens } = await startProduct()
  const { status, body } = await request('GET', `${bases}/handbook/search${query}`, { as: tokens.app })
  expect(status).toBe(400)
  expect(body.error).toMatchObject({ fieldErrors: expect.anything() })
})

test.each([
  {},
  { query: '' },
  { query: 'x'.repeat(8001) },
  { query: '\ufdfa'.repeat(445) },
  { query: 42 },
  { query: 'x', maxChars: 0 },
  { query: 'x', maxChars: 16_001 },
  { query: 'x', maxChars: 1.5 },
  { query: 'x', topK: 51 },
  { query: 'x', topK: '5' },
  { query: 'x', audience: 'everyone' },
  { query: 'x', tags: 'policy' },
  { query: 'x', tags: ['#'] },
  { query: 'x', path: ' ' },
  { query: 'x', kind: 'page' },
  { query: 'x', updatedAfter: 'noon' },
  { query: 'x', neurons: ['../etc'] },
])('a retrieve of %j is refused', async (body) => {
  const { request, tokens } = await startProduct()
  expect(await request('POST', `${bases}/handbook/retrieve`, { as: tokens.app, body })).toMatchObject({ status: 400 })
})

test.each([
  ['tag', 'tags'],
  ['Paths', 'path'],
  ['folder', 'path'],
  ['updated_after', 'updatedAfter'],
  ['seqIds', 'neurons'],
  ['filters', 'tags`, `path'],
])('a retrieve with %s is told to say `%s`', async (other, name) => {
  const { request, tokens } = await startProduct()
  const body = { query: 'x', [other]: ['policy'], question: 2 }
  expect(await request('POST', `${bases}/handbook/retrieve`, { as: tokens.app, body })).toMatchObject({
    status: 400,
    body: { error: { fieldErrors: { [other]: [expect.stringContaining(`\`${name}\``)] } } },
  })
})

test('without a token, or for another tenant, there is nothing', async () => {
  const { request, newKey } = await startProduct()
  const stranger = await newKey('other', 'curator')
  for (const [method, path, body] of [
    ['GET', `${bases}/handbook/search?q=a`, undefined],
    ['GET', '/api/v1/search?kb=handbook&q=a', undefined],
    ['POST', `${bases}/handbook/retrieve`, { query: 'a' }],
  ] as const) {
    const send = body === undefined ? {} : { body }
    expect(await request(method, path, send)).toMatchObject({ status: 401 })
    expect(await request(method, path, { ...send, as: stranger })).toMatchObject({ status: 404 })
  }
})

test('hits go on behind an offset, and a search without a knowledge base goes through all of the tenant', async () => {
  const { request, tokens, newKey, ctx } = await startProduct()
  await createKnowledgeBase(ctx, { tenant: 'acme', slug: 'annex' })
  await createKnowledgeBase(ctx, { tenant: 'umbrella', slug: 'lab' })
  const foreign = await newKey('umbrella', 'app')
  const page = (kb: string, title: string, content: string, as = tokens.app) =>
    request('POST', '/api/v1/queue/candidates', {
      as,
      body: { kb, kind: 'external-feed', title, content, confidence: 1 },
    })
  for (let n = 0; n < 5; n++) await page('handbook', `Page ${n}`, `Otters swim. ${'More words. '.repeat(n)}`)
  await page('annex', 'Otters', 'Otters dive.')
  await page('annex', 'Badgers', 'Badgers and otters.')
  await page('lab', 'Secret', 'Otters.', foreign)
  const find = async (query: string) =>
    Object((await request('GET', `/api/v1/search?${query}`, { as: tokens.reader })).body)
  const idsOf = ({ hits }: { hits: { seqId: string }[] }) => hits.map(({ seqId }) => seqId)

  const whole = await find('kb=handbook&q=otters')
  expect(whole.hits[0]).not.toHaveProperty('kb')
  const parts = await Promise.all([0, 2, 4, 6].map((offset) => find(`kb=handbook&q=otters&limit=2&offset=${offset}`)))
  expect(parts.map(idsOf)).toEqual([idsOf(whole).slice(0, 2), idsOf(whole).slice(2, 4), idsOf(whole).slice(4), []])
  expect(parts.flatMap(({ hits }) => hits.map((hit: { rank: number }) => hit.rank))).toEqual(
    whole.hits.map((hit: { rank: number }) => hit.rank),
  )
  expect(new Set(parts.map(({ total }) => total))).toEqual(new Set([5]))

  const all = await find('q=otters&facets=true')
  expect([all.total, all.matched, all.hits.length]).toEqual([7, 'all', 7])
  expect(all.hits.map(({ rank }: { rank: number }) => rank)).toEqual(
    all.hits.map(({ rank }: { rank: number }) => rank).toSorted((a: number, b: number) => b - a),
  )
  expect(all.hits.slice(0, 2)).toEqual([
    expect.objectContaining({ kb: 'annex', title: 'Otters', rank: 1 }),
    expect.objectContaining({ kb: 'handbook', rank: 1 }),
  ])
  expect(all.facets.kinds).toEqual([{ value: 'wiki', count: 7 }])
  expect(idsOf(await find('q=otters&limit=3&offset=3'))).toEqual(idsOf(all).slice(3, 6))
  // Only one has both words.
  expect(await find('q=badgers otters')).toMatchObject({ total: 1, hits: [{ kb: 'annex', title: 'Badgers' }] })
  for (const query of ['offset=1001', 'offset=-1', 'offset=01', 'kb=nowhere']) {
    expect((await request('GET', `/api/v1/search?q=otters&${query}`, { as: tokens.reader })).status).toBeGreaterThan(
      399,
    )
  }
})
