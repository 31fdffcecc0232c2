import { expect, test } from 'vitest'
import { signIn } from '../support/person.ts'
import { startProduct } from './support.ts'

const queue = '/api/v1/queue/candidates'
const candidate = { kb: 'handbook', kind: 'external-feed', title: 'VIP policy', content: 'Page the lead.' }

test('a curator works by session: what they approve carries their name and id', async () => {
  const { ctx, request } = await startProduct()
  const { headers, userId } = await signIn(ctx, 'acme', 'curator', { name: 'Ada Lovelace' })
  const made = await request('POST', queue, { headers, body: candidate })
  expect(made.status).toBe(201)
  expect(made.headers.get('cache-control')).toBe('no-store')
  const approved = await request('POST', `${queue}/${made.body.candidateId}/approve`, { headers, body: {} })
  expect(approved.status).toBe(200)
  const [kb] = await ctx.kbs.all()
  const commit = await kb?.repository.readTextOnce(String(approved.body.commit))
  expect(commit).toContain(`Approved-By: Ada Lovelace <user:${userId}>`)
})

test('a reader reads, and decides nothing', async () => {
  const { ctx, request } = await startProduct()
  const { headers } = await signIn(ctx, 'acme', 'reader')
  expect((await request('GET', '/api/v1/knowledge-bases', { headers })).status).toBe(200)
  for (const [method, path] of [
    ['GET', queue],
    ['POST', queue],
  ] as const) {
    expect(await request(method, path, { headers, ...(method === 'POST' && { body: candidate }) })).toMatchObject({
      status: 403,
      body: { error: 'insufficient_role' },
    })
  }
})

test('a write without the token, or not of our pages, is refused and changes nothing', async () => {
  const { ctx, request, url } = await startProduct()
  const { headers } = await signIn(ctx, 'acme', 'curator')
  const { cookie, 'x-csrf-token': token } = headers
  const other = await signIn(ctx, 'acme', 'curator', { email: 'eve@example.com' })
  const port = new URL(url).port
  const refused: [string, Record<string, string>][] = [
    ['stale_form', { cookie, 'sec-fetch-site': 'same-origin' }],
    ['stale_form', { cookie, 'sec-fetch-site': 'same-origin', 'x-csrf-token': '' }],
    ['stale_form', { cookie, 'sec-fetch-site': 'same-origin', 'x-csrf-token': other.headers['x-csrf-token'] }],
    ['foreign_origin', { cookie, 'x-csrf-token': token }],
    ['foreign_origin', { cookie, 'x-csrf-token': token, 'sec-fetch-site': 'cross-site' }],
    ['foreign_origin', { cookie, 'x-csrf-token': token, 'sec-fetch-site': 'same-site' }],
    ['foreign_origin', { cookie, 'x-csrf-token': token, 'sec-fetch-site': 'none' }],
    ['foreign_origin', { cookie, 'x-csrf-token': token, origin: 'https://evil.example' }],
    ['foreign_origin', { cookie, 'x-csrf-token': token, origin: 'null' }],
    ['foreign_origin', { cookie, 'x-csrf-token': token, origin: `http://127.0.0.1.evil.example:${port}` }],
    ['foreign_origin', { ...headers, origin: 'https://evil.example' }],
    ['foreign_origin', { ...headers, origin: url, 'sec-fetch-site': 'cross-site' }],
  ]
  for (const [error, sent] of refused) {
    const { status, body } = await request('POST', queue, { headers: sent, body: candidate })
    expect({ sent, status, error: body.error }).toEqual({ sent, status: 403, error })
  }
  expect((await request('GET', queue, { headers: { cookie } })).body.candidates).toEqual([])
  const ours = await request('POST', queue, {
    headers: { cookie, 'x-csrf-token': token, origin: url },
    body: candidate,
  })
  expect(ours.status).toBe(201)
})

test('beside a header authorization, the cookie counts for nothing', async () => {
  const { ctx, request, tokens } = await startProduct()
  const { headers } = await signIn(ctx, 'acme', 'curator')
  expect((await request('GET', queue, { headers: { ...headers, authorization: 'Bearer nobody' } })).status).toBe(401)
  const byKey = await request('GET', queue, { headers: { ...headers, authorization: `Bearer ${tokens.app}` } })
  expect(byKey.status).toBe(403)
  for (const value of [tokens.curator, '', 'x'.repeat(43), `${headers.cookie}x`]) {
    expect((await request('GET', queue, { headers: { cookie: `ganglion=${value}` } })).status).toBe(401)
  }
})

test('git and agents take keys only', async () => {
  const { ctx, request } = await startProduct()
  const { headers } = await signIn(ctx, 'acme', 'curator')
  const git = await request('GET', '/git/acme/handbook.git/info/refs?service=git-upload-pack', { headers })
  const mcp = await request('POST', '/mcp', { headers, body: { jsonrpc: '2.0', id: 1, method: 'ping' } })
  expect([git.status, mcp.status]).toEqual([401, 401])
})

test('a new role has a new token, and what was on its way with the old one still arrives', async () => {
  const { ctx, request } = await startProduct()
  const { headers, userId, token } = await signIn(ctx, 'acme', 'reader')
  const tenant = await ctx.tenants.find('acme')
  await ctx.users.setRole(userId, tenant?.id ?? '', 'curator')
  const answers = await Promise.all(Array.from({ length: 5 }, () => request('GET', queue, { headers })))
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
  const cookies = answers.flatMap((answer) => answer.headers.getSetCookie())
  expect(cookies).toEqual([
    expect.stringMatching(/^ganglion=[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax$/),
  ])
  expect(cookies[0]).not.toContain(token)
  const cookie = String(cookies[0]?.split(';')[0])
  const made = await request('POST', queue, { headers: { ...headers, cookie }, body: candidate })
  expect(made.status).toBe(201)
  expect(made.headers.getSetCookie()).toEqual([])
})

test("another tenant's knowledge is not there", async () => {
  const { ctx, request, kbId } = await startProduct()
  const { headers } = await signIn(ctx, 'umbrella', 'admin')
  const path = `/api/v1/knowledge-bases/${kbId}/search?q=x`
  expect((await request('GET', path, { headers })).status).toBe(404)
  expect((await request('GET', '/api/v1/knowledge-bases', { headers })).body).toEqual({ knowledgeBases: [] })
})

test('a stream of events tells nothing once its session has ended or its key is revoked, and is closed', async () => {
  const { ctx, request, url, tokens } = await startProduct()
  const tenantId = (await ctx.tenants.find('acme'))?.id ?? ''
  const [ada, bob] = await Promise.all(
    ['ada', 'bob'].map((name) => signIn(ctx, 'acme', 'curator', { email: `${name}@example.com` })),
  )
  const bot = { tenantId, name: 'Bot', role: 'curator' as const, connectors: [], expiresAt: null }
  const { key, token } = await ctx.apiKeys.create(bot, new Date())
  const senders = [
    { cookie: ada?.headers.cookie ?? '' },
    { cookie: bob?.headers.cookie ?? '' },
    { authorization: `Bearer ${token}` },
  ]
  const streams = await Promise.all(senders.map((headers) => fetch(`${url}/api/v1/events`, { headers })))
  expect(streams.map(({ status }) => status)).toEqual([200, 200, 200])
  await ctx.sessions.endAll(ada?.userId ?? '')
  await ctx.users.setRole(bob?.userId ?? '', tenantId, 'reader')
  await ctx.apiKeys.revoke(key.id, new Date(), tenantId)
  const authorization = `Bearer ${tokens.app}`
  expect((await request('POST', queue, { headers: { authorization }, body: candidate })).status).toBe(201)
  const told = await Promise.all(streams.map((stream) => stream.text()))
  const end = /^retry: \d+\nid: \d+\n\nevent: error\ndata: \{"error":"invalid_token".*\}\n\n$/
  expect(told).toEqual(told.map(() => expect.stringMatching(end)))
})

test('a reader follows the pages that they may see, and hears nothing of the queue', async () => {
  const { ctx, request, url, tokens } = await startProduct()
  const { headers } = await signIn(ctx, 'acme', 'reader')
  const stream = await fetch(`${url}/api/v1/events`, { headers: { cookie: headers.cookie } })
  expect(stream.status).toBe(200)
  const authorization = `Bearer ${tokens.app}`
  const submit = (more: object) =>
    request('POST', queue, { headers: { authorization }, body: { ...candidate, confidence: 1, ...more } })
  const hidden = await submit({ title: 'Hidden', metadata: '{"tags":["internal"]}' })
  const shown = await submit({ title: 'Shown' })
  expect([hidden.body.status, shown.body.status]).toEqual(['approved', 'approved'])
  let told = ''
  for await (const bytes of stream.body ?? []) {
    told += Buffer.from(bytes)
    if (told.includes('event: ')) break
  }
  expect(told).toMatch(/^retry: 2000\nid: 0\n\nid: \d+\nevent: neuron.created\ndata: /)
  expect(Object.keys(JSON.parse(/^data: (.*)$/m.exec(told)?.[1] ?? '')).sort()).toEqual([
    'at',
    'commit',
    'id',
    'kbId',
    'kind',
    'seqId',
    'tenantId',
  ])
  expect(told).toContain(shown.body.seqId)
})
