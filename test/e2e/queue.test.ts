import { expect, test } from 'vitest'
import { createKnowledgeBase } from '../../src/kb/create-kb.ts'
import { nativeGit } from '../git/support/native-git.ts'
import { setSettings } from './settings.ts'
import { type Answer, type Product, type Send, startProduct } from './support.ts'

const queue = '/api/v1/queue/candidates'

const candidate = {
  knowledgeBaseId: 'handbook',
  kind: 'external-feed',
  title: 'VIP escalation policy',
  content: 'When a VIP customer raises a ticket, page the lead.',
}

function submit(product: Product, changes: Record<string, unknown> = {}, send: Send = {}): Promise<Answer> {
  return product.request('POST', queue, { as: product.tokens.app, body: { ...candidate, ...changes }, ...send })
}

test('submitted, seen in the queue, approved, read, read as it was', async () => {
  const product = await startProduct()
  const { request, tokens } = product
  const submitted = await submit(product, { metadata: '{"tags":["vip"],"sourceUrl":"https://example.com"}' })
  expect(submitted).toMatchObject({ status: 201, body: { status: 'pending', kbId: product.kbId } })
  const id = submitted.body.candidateId
  expect(submitted.body.queueUrl).toBe(`/queue/${id}`)

  const listed = await request('GET', `${queue}?kb=handbook&status=pending`, { as: tokens.curator })
  expect(listed.body).toMatchObject({ candidates: [{ candidateId: id, title: candidate.title, status: 'pending' }] })
  const detail = await request('GET', `${queue}/${id}`, { as: tokens.curator })
  expect(detail.body).toMatchObject({ before: null, after: candidate.content, content: candidate.content })
  expect(detail.body.diff).toContain(`+${candidate.content}`)

  const approved = await request('POST', `${queue}/${id}/approve`, { as: tokens.curator })
  expect(approved).toMatchObject({
    status: 200,
    body: { candidateId: id, status: 'approved', seqId: 'handbook_00000001' },
  })
  const path = '/api/v1/neurons/handbook/handbook_00000001'
  const neuron = await request('GET', path, { as: tokens.reader })
  expect(neuron.body).toMatchObject({
    seqId: 'handbook_00000001',
    title: candidate.title,
    content: candidate.content,
    version: 1,
    tags: ['vip'],
    links: [],
    commit: approved.body.commit,
  })
  expect(nativeGit(product.gitDir, ['rev-parse', 'main'])).toBe(approved.body.commit)

  const fix = {
    kind: 'user-correction',
    content: 'Page two leads.',
    metadata: { targetNeuron: 'handbook_00000001' },
    confidence: 0.9,
  }
  const corrected = await submit(product, fix)
  expect(corrected.body).toMatchObject({ status: 'approved', seqId: 'handbook_00000001' })
  expect((await request('GET', path, { as: tokens.app })).body).toMatchObject({
    version: 2,
    content: 'Page two leads.',
  })
  const past = await request('GET', `${path}?at=${approved.body.commit}`, { as: tokens.app })
  expect(past.body).toEqual({ ...neuron.body, updatedAt: past.body.updatedAt })
  expect(
    (await request('GET', `/api/v1/neurons/${product.kbId}/${neuron.body.documentId}`, { as: tokens.app })).status,
  ).toBe(200)
})

test('the five rules of the policy, strictest first', async () => {
  const product = await startProduct()
  const status = async (changes: Record<string, unknown>, as?: string) =>
    (await submit(product, changes, as === undefined ? {} : { as })).body.status
  expect(await status({ confidence: 0.8 })).toBe('approved')
  expect(await status({ confidence: 0.79 })).toBe('pending')
  expect(await status({})).toBe('pending')
  expect(await status({ confidence: 1, metadata: { actionZone: 'yellow' } })).toBe('pending')
  expect(await status({ confidence: 1, metadata: { actionZone: 'red' } })).toBe('pending')
  expect(await status({ confidence: 0, metadata: { actionZone: 'green' } })).toBe('pending')
  expect(await status({ kind: 'contradiction-alert', confidence: 1 })).toBe('pending')

  const lint = { metadata: { connector: 'lint' } }
  expect(await status(lint)).toBe('pending')
  expect(await status(lint, await product.newKey('acme', 'app', ['lint']))).toBe('approved')
  expect(
    await status(
      { ...lint, metadata: { connector: 'lint', actionZone: 'red' } },
      await product.newKey('acme', 'app', ['lint']),
    ),
  ).toBe('pending')

  await setSettings(product, 'reader-feedback: yellow', 'reader-feedback: red\n    chat-answer: green')
  expect(await status({ kind: 'chat-answer' })).toBe('approved')
  expect(await status({ kind: 'reader-feedback', confidence: 1 })).toBe('pending')
  expect(await status({ kind: 'ingest-summary' })).toBe('pending')

  expect(await status({ confidence: 0.6 })).toBe('pending')
  await setSettings(product, 'singleCurator: false', 'singleCurator: true')
  expect(await status({ confidence: 0.6 })).toBe('approved')
  expect(await status({ confidence: 0.4 })).toBe('pending')

  await setSettings(product, /threshold: 0.8/, 'threshold: high')
  expect(await status({ confidence: 1 })).toBe('pending')
})

test('curators see the red zone first, then impact, then age, page by page', async () => {
  const product = await startProduct()
  const made: Record<string, string> = {}
  const rows = [
    ['plain', {}],
    ['impact 5', { impactEstimate: 5 }],
    ['red', { metadata: { actionZone: 'red' } }],
    ['impact 9', { impactEstimate: 9 }],
    ['plain, later', {}],
    ['red, impact 1', { metadata: { actionZone: 'red' }, impactEstimate: 1 }],
  ] as const
  for (const [title, changes] of rows)
    made[title] = String((await submit(product, { title, ...changes })).body.candidateId)
  const titles: unknown[] = []
  let cursor: unknown = ''
  for (let page = 0; cursor !== null; page++) {
    const query = `kb=handbook&limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`
    const { body } = await product.request('GET', `${queue}?${query}`, { as: product.tokens.curator })
    titles.push(...(body.candidates as { title: string }[]).map(({ title }) => title))
    cursor = body.nextCursor ?? null
    expect(page).toBeLessThan(4)
  }
  expect(titles).toEqual(['red, impact 1', 'red', 'impact 9', 'impact 5', 'plain', 'plain, later'])
  const { body } = await product.request('GET', `${queue}?kind=external-feed&connector=api&status=pending`, {
    as: product.tokens.curator,
  })
  expect(body.candidates).toHaveLength(6)
  expect((await product.request('GET', `${queue}?cursor=nonsense`, { as: product.tokens.curator })).status).toBe(400)
})

test('an idempotency key gives the first answer again, to many at once too, and refuses another body', async () => {
  const product = await startProduct()
  const headers = { 'idempotency-key': 'abc-1' }
  const answers = await Promise.all(Array.from({ length: 8 }, () => submit(product, {}, { headers })))
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
  expect(answers[0]?.status).toBe(201)
  expect((await submit(product, { title: 'Another' }, { headers })).status).toBe(422)
  expect((await submit(product, {}, { headers, as: product.tokens.curator })).body.candidateId).not.toBe(
    answers[0]?.body.candidateId,
  )
  expect((await submit(product, { title: '' }, { headers: { 'idempotency-key': 'abc-2' } })).status).toBe(400)
  expect((await submit(product, {}, { headers: { 'idempotency-key': 'abc-2' } })).status).toBe(201)
  expect(nativeGit(product.gitDir, ['rev-list', '--count', 'refs/ganglion/queue'])).toBe('3')
})

test('to another tenant nothing here exists', async () => {
  const product = await startProduct()
  const { request, tokens } = product
  const id = (await submit(product, { confidence: 1 })).body.candidateId
  const pending = (await submit(product)).body.candidateId
  await createKnowledgeBase(product.ctx, { tenant: 'rival', slug: 'handbook2' })
  const rival = await product.newKey('rival', 'curator')
  const head = nativeGit(product.gitDir, ['rev-parse', 'main', 'refs/ganglion/queue'])
  const unknown = '01990000-0000-7000-8000-000000000000'
  const missing = await request('GET', `${queue}/${unknown}`, { as: rival })
  for (const [method, path, body] of [
    ['GET', `${queue}/${id}`],
    ['POST', `${queue}/${pending}/approve`],
    ['POST', `${queue}/${pending}/dismiss`, {}],
    ['POST', `${queue}/${pending}/reopen`],
    ['GET', '/api/v1/neurons/handbook/handbook_00000001'],
    ['GET', `/api/v1/neurons/${product.kbId}/handbook_00000001`],
    ['GET', `${queue}?kb=handbook`],
    ['POST', queue, candidate],
  ] as const) {
    const answer = await request(method, path, { as: rival, ...(body === undefined ? {} : { body }) })
    expect([answer.status, answer.text], `${method} ${path}`).toEqual([404, missing.text])
  }
  expect((await request('GET', queue, { as: rival })).body).toEqual({ candidates: [], nextCursor: null })
  expect(nativeGit(product.gitDir, ['rev-parse', 'main', 'refs/ganglion/queue'])).toBe(head)
  expect((await request('GET', `${queue}/${id}`, { as: tokens.curator })).status).toBe(200)
})

test('revoked, expired and made-up keys are refused on every route', async () => {
  const product = await startProduct()
  const expired = await product.newKey('acme', 'curator', [], new Date(Date.now() - 1_000))
  const revoked = await product.newKey('acme', 'curator')
  for (const { id, name, tenantId } of await product.ctx.apiKeys.list()) {
    if (name === 'curator') await product.ctx.apiKeys.revoke(id, new Date(), tenantId)
  }
  for (const as of [expired, revoked, product.tokens.curator, `gng_${'a'.repeat(36)}`, 'x']) {
    const answer = await product.request('GET', queue, { as })
    expect(answer.status).toBe(401)
    expect(answer.headers.get('www-authenticate')).toBe('Bearer')
  }
})

test('what is refused writes nothing', async () => {
  const product = await startProduct()
  const before = nativeGit(product.gitDir, ['for-each-ref'])
  const refused: Record<string, unknown>[] = [
    { title: ' \n ' },
    { title: 'x\0' },
    { content: '\ud800' },
    { content: 'x'.repeat(512 * 1024 + 1) },
    { metadata: 'not json' },
    { metadata: '[1]' },
    { metadata: '{"__proto__":{"x":1}}' },
    { metadata: JSON.stringify({ x: 'y'.repeat(17_000) }) },
    { metadata: { a: { b: { c: { d: { e: { f: 1 } } } } } } },
    { confidence: 1.5 },
    { kind: 'novel' },
    { impactEstimate: 0 },
  ]
  for (const changes of refused)
    expect((await submit(product, changes)).status, JSON.stringify(changes).slice(0, 60)).toBe(400)
  expect((await submit(product, { knowledgeBaseId: 'nowhere' })).status).toBe(404)
  expect(nativeGit(product.gitDir, ['for-each-ref'])).toBe(before)
})

test('a Neuron is there for its audience only, in links too', async () => {
  const product = await startProduct()
  const { request, tokens } = product
  const approve = async (changes: Record<string, unknown>) =>
    (await submit(product, { confidence: 1, ...changes })).body.seqId
  const secret = await approve({ title: 'Secret plan', metadata: { tags: ['internal'] } })
  const open = await approve({
    title: 'Open page',
    content: 'See [[Secret plan]] and [[contradicts:open page]] and [[Nowhere]].',
  })
  expect((await request('GET', `/api/v1/neurons/handbook/${secret}`, { as: tokens.app })).status).toBe(404)
  expect((await request('GET', `/api/v1/neurons/handbook/${secret}`, { as: tokens.reader })).status).toBe(404)
  expect((await request('GET', `/api/v1/neurons/handbook/${secret}`, { as: tokens.curator })).status).toBe(200)
  expect((await request('GET', `/api/v1/neurons/handbook/${open}`, { as: tokens.app })).body.links).toEqual([
    { type: 'contradicts', target: open },
  ])
  expect((await request('GET', `/api/v1/neurons/handbook/${open}`, { as: tokens.curator })).body.links).toEqual([
    { type: 'cites', target: secret },
    { type: 'contradicts', target: open },
  ])
})

test('a correction with the tag of what was read is merged from there, and a conflict writes nothing', async () => {
  const product = await startProduct()
  const { request, tokens, gitDir } = product
  const content = 'Open from nine.\n\nClosed on Sunday.\n\nPhone 1234.'
  const { seqId } = (await submit(product, { content, confidence: 1 })).body
  const read = await request('GET', `/api/v1/neurons/handbook/${seqId}`, { as: tokens.app })
  const send = { headers: { 'if-match': read.headers.get('etag') ?? '' } }
  const correct = (text: string, changes: Record<string, unknown> = {}, told: Send = send) =>
    submit(
      product,
      { kind: 'user-correction', content: text, metadata: { targetNeuron: seqId }, confidence: 1, ...changes },
      told,
    )
  const first = await correct(content.replace('nine', 'eight'))
  expect(first.body).toMatchObject({ status: 'approved', seqId })
  const second = await correct(content.replace('1234', '5678'))
  expect(second.body).toMatchObject({ status: 'approved' })
  expect(second.body).not.toHaveProperty('warnings')
  const merged = await request('GET', `/api/v1/neurons/handbook/${seqId}`, { as: tokens.app })
  expect(merged.body).toMatchObject({ content: content.replace('nine', 'eight').replace('1234', '5678'), version: 3 })

  const refs = nativeGit(gitDir, ['for-each-ref'])
  const refused = await correct(content.replace('nine', 'ten'))
  expect(refused).toMatchObject({
    status: 409,
    body: {
      error: 'merge_conflict',
      commit: merged.body.commit,
      conflicts: [{ line: 1, base: 'Open from nine.\n', current: 'Open from eight.\n', proposed: 'Open from ten.\n' }],
    },
  })
  expect(await correct('x', {}, { headers: { 'if-match': '"made-up"' } })).toMatchObject({ status: 400 })
  const unknown = { targetNeuron: seqId, baseVersion: 9 }
  expect(await correct('x', { metadata: unknown }, {})).toMatchObject({
    status: 400,
    body: { error: { fieldErrors: { metadata: ['baseVersion is no version of the Neuron'] } } },
  })
  expect(nativeGit(gitDir, ['for-each-ref'])).toBe(refs)
  // Where the policy would not approve it anyway, it waits.
  expect((await correct(content.replace('nine', 'ten'), { confidence: null })).body.status).toBe('pending')
})
