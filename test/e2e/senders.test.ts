import { expect, onTestFinished, test } from 'vitest'
import { createKnowledgeBase } from '../../src/kb/create-kb.ts'
import { ingestSteps } from '../../src/sources/ingest/ingest-steps.ts'
import { startIngest } from '../../src/sources/ingest/job-runner.ts'
import { eventually } from '../support/eventually.ts'
import { startProduct } from './support.ts'

const queue = '/api/v1/queue/candidates'
const me = '/api/v1/me'
const candidate = { kb: 'handbook', kind: 'external-feed', title: 'Otters', content: 'Otters swim.' }

test('a key follows what it sent, and nothing that others sent', async () => {
  const { request, tokens, newKey, ctx } = await startProduct()
  await createKnowledgeBase(ctx, { tenant: 'acme', slug: 'annex' })
  const other = await newKey('acme', 'app')
  const foreign = await newKey('umbrella', 'app')
  const read = async (path: string, as = tokens.app) => (await request('GET', `${me}${path}`, { as })).body
  const submit = async (changes: Record<string, unknown>) =>
    String((await request('POST', queue, { as: tokens.app, body: { ...candidate, ...changes } })).body.candidateId)
  const decide = (id: string, act: string, body: object) =>
    request('POST', `${queue}/${id}/${act}`, { as: tokens.curator, body })

  expect(await read('')).toEqual({
    ...{ name: 'app', role: 'app', tenant: 'acme', connectors: [], expiresAt: null },
    audiences: ['tool', 'public', 'student'],
  })
  const dismissed = await submit({})
  const hidden = await submit({ title: 'Secret', confidence: 0.1 })
  const approved = await submit({ kb: 'annex', title: 'Badgers', confidence: 1 })
  await decide(dismissed, 'dismiss', { reason: 'Known.' })
  await decide(hidden, 'approve', { tags: ['internal'] })

  const { candidates } = await read('/candidates')
  expect(candidates).toEqual([
    expect.objectContaining({ candidateId: approved, status: 'approved', seqId: 'annex_00000001' }),
    expect.objectContaining({
      candidateId: hidden,
      status: 'approved',
      verdict: { zone: null, reason: 'confidence 0.1 is below every threshold' },
    }),
    expect.objectContaining({
      candidateId: dismissed,
      status: 'dismissed',
      reason: 'Known.',
      verdict: { zone: null, reason: 'no confidence given' },
    }),
  ])
  expect(candidates).toMatchObject([{}, expect.not.objectContaining({ seqId: expect.anything() }), {}])
  for (const sent of [approved, hidden, dismissed]) {
    const { content, ...listed } = Object(await read(`/candidates/${sent}`))
    expect([content, candidates]).toEqual([expect.any(String), expect.arrayContaining([listed])])
    for (const as of [other, foreign, tokens.curator, tokens.reader]) {
      expect((await request('GET', `${me}/candidates/${sent}`, { as })).status).toBe(404)
    }
  }
  await decide(dismissed, 'reopen', {})
  expect(await read(`/candidates/${dismissed}`)).not.toHaveProperty('reason')
  expect(await read('/candidates', other)).toEqual({ candidates: [], nextCursor: null })
  const first = await read('/candidates?limit=2')
  const rest = await read(`/candidates?limit=2&cursor=${first.nextCursor}`)
  expect([first.candidates, rest.candidates].flat()).toHaveLength(3)
  expect(rest.nextCursor).toBeNull()
  expect(await read('/candidates?kb=annex&status=approved')).toMatchObject({ candidates: [{ candidateId: approved }] })
  expect((await request('GET', `${me}/candidates?cursor=bm8`, { as: tokens.app })).status).toBe(400)
})

test('a key follows what it uploaded', async () => {
  const { request, tokens, newKey, ctx } = await startProduct()
  onTestFinished(await startIngest(ctx, ingestSteps(ctx, undefined), { onError: () => {} }))
  const form = new FormData()
  form.set('file', new Blob(['# Otters\n\nOtters swim in rivers.']), 'otters.md')
  const upload = '/api/v1/knowledge-bases/handbook/documents/upload'
  const { id } = (await request('POST', upload, { as: tokens.app, body: form })).body
  const read = async (path: string, as = tokens.app) => await request('GET', `${me}/sources${path}`, { as })
  await eventually(async () => expect((await read(`/${id}`)).body.status).toBe('success'))
  const { body } = await read(`/${id}`)
  expect(body).toMatchObject({ id, filename: 'otters.md', archivedAt: null })
  expect([body.candidateCount, body.neuronCount]).toEqual([0, 1])
  expect(body.neurons).toEqual([{ seqId: 'handbook_00000001', title: 'Otters' }])
  expect((await read('?status=success')).body).toMatchObject({ documents: [{ id }], nextCursor: null })
  expect((await read('?status=failed')).body.documents).toEqual([])
  const other = await newKey('acme', 'app')
  expect((await read('', other)).body.documents).toEqual([])
  expect((await read(`/${id}`, other)).status).toBe(404)
})

test('a batch answers for each candidate, and counts each', async () => {
  const { request, tokens } = await startProduct({ rateWrites: 120 })
  const fine = Array.from({ length: 97 }, (_, n) => ({ ...candidate, title: `Page ${n}`, confidence: 1 }))
  const wrong = [{ ...candidate, title: 42 }, 'none', { ...candidate, kb: 'nowhere' }]
  const send = (as: string, headers = {}) =>
    request('POST', `${queue}/batch`, { as, headers, body: { candidates: [...fine, ...wrong] } })
  const { status, body, headers } = await send(tokens.app, { 'idempotency-key': 'a' })
  const results = Object(body).results
  expect([status, results.length]).toEqual([200, 100])
  expect(results.slice(0, 97)).toEqual(
    fine.map(() => ({ status: 201, candidate: expect.objectContaining({ status: 'approved' }) })),
  )
  expect(results.slice(97)).toMatchObject([
    { status: 400, error: { error: { fieldErrors: { title: [expect.any(String)] } } } },
    { status: 400, error: { error: { formErrors: [expect.any(String)] } } },
    { status: 404, error: { error: 'not_found' } },
  ])
  expect([headers.get('ratelimit-limit'), headers.get('ratelimit-remaining')]).toEqual(['120', '20'])
  expect(Number(headers.get('ratelimit-reset'))).toBeGreaterThan(0)
  const more = await send(tokens.app, { 'idempotency-key': 'a' })
  expect([more.status, more.headers.get('ratelimit-remaining')]).toEqual([429, '0'])
  const { body: sent } = await request('GET', `${me}/candidates?limit=100`, { as: tokens.app })
  expect(sent.candidates).toHaveLength(97)

  expect((await send(tokens.reader)).status).toBe(403)
  for (const candidates of [[], Array(101).fill(candidate), 'none']) {
    expect((await request('POST', `${queue}/batch`, { as: tokens.curator, body: { candidates } })).status).toBe(400)
  }
})

test('a batch that is sent again stores only what was not stored', async () => {
  const { request, tokens, ctx } = await startProduct()
  const send = (candidates: unknown[]) =>
    request('POST', `${queue}/batch`, { as: tokens.app, headers: { 'idempotency-key': 'a' }, body: { candidates } })
  const first = Object((await send([candidate, { ...candidate, kb: 'nowhere' }])).body).results
  const second = Object((await send([candidate, { ...candidate, title: 'Badgers' }])).body).results
  expect(second[0]).toEqual(first[0])
  expect(second[1]).toMatchObject({ status: 201 })
  // The name leads to another knowledge base now.
  const old = await ctx.kb((await ctx.tenants.find('acme'))?.id ?? '', 'handbook')
  await ctx.knowledgeBases.setDeleted(old.identity, ctx.now())
  await createKnowledgeBase(ctx, { tenant: 'acme', slug: 'handbook' })
  expect(Object((await send([candidate])).body).results).toMatchObject([
    { status: 422, error: { error: 'idempotency_key_reused' } },
  ])
})
