import { once } from 'node:events'
import { createServer, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { Webhook as Verifier } from 'standardwebhooks'
import { expect, onTestFinished, test } from 'vitest'
import { startWebhooks } from '../../src/events/webhooks/start-webhooks.ts'
import { whoIs } from '../../src/kb/access/who-is.ts'
import { createKnowledgeBase } from '../../src/kb/create-kb.ts'
import { ganglion, ganglionJson } from '../cli/support.ts'
import { eventually } from '../support/eventually.ts'
import { listening } from '../support/listening.ts'
import { signIn } from '../support/person.ts'
import { startProduct } from './support.ts'

const webhooks = '/api/v1/webhooks'
const keys = '/api/v1/keys'
const nobody = '01a21734-6b1e-7e0f-b0a2-5a3c1d2e4f60'
const secretShape = /^whsec_[A-Za-z0-9+/]{43}=$/

type Message = { body: string; headers: Record<string, string> }

/** A receiver on this machine. `answer` may wait. */
async function receiver(answer: (n: number) => number | Promise<number> = () => 204) {
  const messages: Message[] = []
  const origin = await listening(
    createServer(async (request, response) => {
      const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
      messages.push({ body: await text(request), headers })
      response.writeHead(await answer(messages.length)).end('a secret of the receiver')
    }),
  )
  return { url: `${origin}/hook`, messages }
}

function isSignedBy({ body, headers }: Message, secret: unknown): boolean {
  try {
    return new Verifier(String(secret)).verify(body, headers) !== undefined
  } catch {
    return false
  }
}

/** A product with a key of an administrator, in the tenant `acme`. */
async function administered({ webhookPrivate = true, now }: { webhookPrivate?: boolean; now?: () => Date } = {}) {
  const product = await startProduct({ webhookPrivate, rateWrites: 10_000, ...(now && { now }) })
  const { ctx, request } = product
  const newAdmin = async (tenant = 'acme', more: object = {}) => {
    const { id: tenantId } = await ctx.tenants.ensure(tenant, new Date())
    const key = {
      tenantId,
      name: 'root',
      role: 'curator' as const,
      isAdmin: true,
      connectors: ['feed'],
      expiresAt: null,
    }
    return (await ctx.apiKeys.create({ ...key, ...more }, new Date())).token
  }
  const admin = await newAdmin()
  const as =
    (token: string) =>
    (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
      request(method, path, { as: token, headers, ...(body !== undefined && { body }) })
  return { ...product, admin, newAdmin, as, ask: as(admin) }
}

test('a webhook lives by API alone: made, read, tested, changed, rotated, replayed and removed', async () => {
  const { ask, kbId, ctx } = await administered()
  const { url, messages } = await receiver((n) => (n === 2 ? 500 : 204))
  const made = await ask('POST', webhooks, { url, kb: 'handbook', kinds: ['kb.pushed'] })
  expect([made.status, made.headers.get('cache-control')]).toEqual([201, 'no-store'])
  const { id, secret, ...shown } = made.body
  expect(secret).toMatch(secretShape)
  expect(shown).toMatchObject({ url, kb: 'handbook', kbId, kinds: ['kb.pushed'], isEnabled: true, format: 'ganglion' })
  const path = `${webhooks}/${id}`
  expect((await ask('GET', webhooks)).body).toEqual({ webhooks: [{ id, ...shown }] })

  expect((await ask('POST', `${path}/test`)).body).toMatchObject({ eventId: null, status: 204, note: null })
  expect((await ask('POST', `${path}/test`)).body).toMatchObject({ status: 500, note: 'The receiver answered 500.' })
  const { body: detail, text } = await ask('GET', path)
  expect(detail).toMatchObject({ id, deliveries: [{ status: 500, kind: 'webhook.test' }, { status: 204 }] })
  expect(text).not.toContain('a secret of the receiver')

  const rotated = await ask('POST', `${path}/rotate`)
  const until = String(rotated.body.formerSecretUntil)
  expect(Math.abs(Date.parse(until) - Date.now() - 86_400_000)).toBeLessThan(60_000)
  expect(rotated.headers.get('cache-control')).toBe('no-store')
  await ask('POST', `${path}/test`)
  const [first, last] = [messages[0], messages[2]]
  if (first === undefined || last === undefined) throw new Error('Nothing was received.')
  expect([secret, rotated.body.secret].map((one) => isSignedBy(first, one))).toEqual([true, false])
  expect([secret, rotated.body.secret].map((one) => isSignedBy(last, one))).toEqual([true, true])
  expect(last.headers['webhook-signature']).toMatch(/^v1,\S+ v1,\S+$/)

  const there = await receiver()
  const change = { url: there.url, kinds: [], isEnabled: false }
  expect((await ask('PATCH', path, change)).body).toMatchObject({ ...change, note: 'Paused by root.' })
  expect((await ask('PATCH', path, {})).body).toMatchObject({ ...change, note: 'Paused by root.' })
  expect((await ask('PATCH', path, { isEnabled: true })).body).toMatchObject({ isEnabled: true, note: null })
  const { id: tenantId } = await ctx.tenants.ensure('acme', new Date())
  await ctx.events.append(tenantId, [{ kbId, kind: 'kb.pushed', isCuratorOnly: false, data: {} }], new Date())
  const { last: newest } = await ctx.events.range(tenantId)
  expect((await ask('PATCH', path, { from: newest + 1 })).status).toBe(400)
  expect((await ask('PATCH', path, { from: newest })).body).toMatchObject({ cursor: newest - 1 })
  for (const { text } of [await ask('GET', webhooks), await ask('GET', path)])
    for (const known of [secret, rotated.body.secret]) expect(text).not.toContain(known)
  const audit = await ctx.audit.list(tenantId, { before: undefined, limit: 20 })
  expect(audit.map(({ action }) => action).reverse()).toEqual(
    ['added', 'rotated', 'changed', 'paused', 'resumed', 'replayed'].map((act) => `webhook.${act}`),
  )
  expect(JSON.stringify(audit)).not.toContain('whsec_')

  expect((await ask('DELETE', path)).status).toBe(204)
  for (const [method, at] of [
    ...[
      ['DELETE', ''],
      ['GET', ''],
      ['PATCH', ''],
      ['POST', '/rotate'],
      ['POST', '/test'],
    ],
  ]) {
    expect((await ask(String(method), path + at, method === 'PATCH' ? {} : undefined)).status).toBe(404)
  }
})

test('a curator manages webhooks of one knowledge base, others none, and another tenant knows of nothing', async () => {
  const { ask, as, tokens, ctx, newAdmin, newKey } = await administered()
  await createKnowledgeBase(ctx, { tenant: 'umbrella', slug: 'theirs' })
  const url = 'https://hooks.example.org/kb'
  const { body: whole } = await ask('POST', webhooks, { url: `${url}/whole` })
  const { body: part } = await ask('POST', webhooks, { url, kb: 'handbook' })
  const curator = as(tokens.curator)
  expect((await curator('GET', webhooks)).body).toMatchObject({ webhooks: [{ id: part.id }] })
  expect(await curator('POST', webhooks, { url })).toMatchObject({ status: 403, body: { error: 'insufficient_role' } })
  expect((await curator('POST', webhooks, { url, kb: 'handbook' })).status).toBe(201)
  expect((await curator('PATCH', `${webhooks}/${part.id}`, { kinds: ['kb.pushed'] })).status).toBe(200)

  const strangers = [await newAdmin('umbrella'), await newKey('umbrella', 'curator')].map(as)
  const acts = [
    ['GET', ''],
    ['PATCH', '', { url: 'https://evil.example' }],
    ['POST', '/rotate'],
    ['POST', '/test'],
    ['DELETE', ''],
  ] as const
  for (const [method, at, body] of acts) {
    expect((await curator(method, `${webhooks}/${whole.id}${at}`, body)).status).toBe(404)
    for (const stranger of strangers)
      for (const { id } of [whole, part])
        expect((await stranger(method, `${webhooks}/${id}${at}`, body)).status).toBe(404)
    for (const token of [tokens.app, tokens.reader])
      expect((await as(token)(method, `${webhooks}/${part.id}${at}`, body)).status).toBe(403)
    expect((await ask(method, `${webhooks}/${nobody}${at}`, body)).status).toBe(404)
  }
  for (const stranger of strangers) {
    expect((await stranger('GET', webhooks)).body).toEqual({ webhooks: [] })
    expect((await stranger('POST', webhooks, { url, kb: 'handbook' })).status).toBe(404)
  }
  for (const token of [tokens.app, tokens.reader]) {
    expect((await as(token)('GET', webhooks)).status).toBe(403)
    expect((await as(token)('POST', webhooks, { url, kb: 'handbook' })).status).toBe(403)
  }
  expect((await ask('GET', `${webhooks}/${whole.id}`)).body).toMatchObject({ url: `${url}/whole`, deliveries: [] })
})

test('a target without a public address is refused when it is made and when it is changed', async () => {
  const { ask } = await administered({ webhookPrivate: false })
  const { body } = await ask('POST', webhooks, { url: 'https://hooks.example.org' })
  const targets = [
    'http://127.0.0.1/x',
    'http://[::1]/',
    'http://169.254.169.254/',
    'http://localhost:9/',
    'http://10.1',
  ]
  for (const url of targets) {
    for (const sent of [await ask('POST', webhooks, { url }), await ask('PATCH', `${webhooks}/${body.id}`, { url })])
      expect(sent).toMatchObject({
        status: 400,
        body: { error: { fieldErrors: { url: [expect.stringContaining('no public address')] } } },
      })
  }
  for (const url of [
    'ftp://example.org',
    'https://a:b@example.org',
    'https://example.org/#x',
    'x',
    `https://e.org/${'x'.repeat(2_000)}`,
  ])
    expect((await ask('PATCH', `${webhooks}/${body.id}`, { url })).status).toBe(400)
  expect((await ask('GET', webhooks)).body).toMatchObject({ webhooks: [{ url: 'https://hooks.example.org' }] })
})

test('rotations at once and again within a day leave each shown secret valid for its day; the fifth is refused', async () => {
  const time = { now: new Date() }
  const { ask, ctx } = await administered({ now: () => time.now })
  const { url, messages } = await receiver()
  const { body: made } = await ask('POST', webhooks, { url })
  const path = `${webhooks}/${made.id}`
  const rotate = () => ask('POST', `${path}/rotate`)
  const rotated = await Promise.all([rotate(), rotate(), rotate(), rotate()])
  const secrets = [made, ...rotated.map(({ body }) => body)].map(({ secret }) => secret)
  expect([rotated.map(({ status }) => status), new Set(secrets).size]).toEqual([[200, 200, 200, 200], 5])
  expect(await rotate()).toMatchObject({
    status: 400,
    body: { error: { formErrors: [expect.stringContaining('too often in a day')] } },
  })
  await ask('POST', `${path}/test`)
  const signed = (n: number) => secrets.map((secret) => messages[n] !== undefined && isSignedBy(messages[n], secret))
  expect(signed(0)).toEqual([true, true, true, true, true])
  const before = time.now
  time.now = new Date(before.getTime() + 86_400_000)
  expect((await ask('GET', path)).body).toMatchObject({ formerSecretUntil: null })
  const { body: again } = await rotate()
  expect(again.secret).toMatch(secretShape)
  const row = await ctx.webhooks.find(String(made.id))
  expect(row?.formerSecrets).toHaveLength(1)
})

test('a webhook that is removed or changed during a delivery sends nothing more of what it was', async () => {
  const { ask, ctx, kbId } = await administered()
  const { id: tenantId } = await ctx.tenants.ensure('acme', new Date())
  const held = Promise.withResolvers<number>()
  const first = await receiver(() => held.promise)
  const second = await receiver()
  const { body: changed } = await ask('POST', webhooks, { url: first.url })
  const event = { kbId, kind: 'kb.pushed', isCuratorOnly: false, data: {} } as const
  await ctx.events.append(tenantId, [event, event, event], new Date())
  const errors: unknown[] = []
  const stop = startWebhooks(ctx, { allowPrivate: true, onError: (error) => void errors.push(error) })
  onTestFinished(stop)
  await eventually(() => expect(first.messages).toHaveLength(1))
  const path = `${webhooks}/${changed.id}`
  expect((await ask('PATCH', path, { url: second.url })).status).toBe(200)
  const { body: rotated } = await ask('POST', `${path}/rotate`)
  held.resolve(204)
  await eventually(() => expect(second.messages).toHaveLength(2))
  expect(first.messages).toHaveLength(1)
  expect(second.messages.every((message) => isSignedBy(message, rotated.secret))).toBe(true)

  const slow = Promise.withResolvers<number>()
  const third = await receiver(() => slow.promise)
  const { body: removed } = await ask('POST', webhooks, { url: third.url })
  await ctx.events.append(tenantId, [event, event], new Date())
  await eventually(() => expect(third.messages).toHaveLength(1))
  expect((await ask('DELETE', `${webhooks}/${removed.id}`)).status).toBe(204)
  slow.resolve(204)
  await delay(500)
  expect([third.messages.length, errors]).toEqual([1, []])
})

test('a repeated Idempotency-Key makes nothing twice and shows no secret again; none is stored but what signs', async () => {
  const { ask, as, ctx, newAdmin } = await administered()
  const once = { 'idempotency-key': 'once' }
  const key = { name: 'site', role: 'app' }
  const [made, again] = [await ask('POST', keys, key, once), await ask('POST', keys, key, once)]
  expect([made.status, again.status, again.body]).toEqual([201, 201, { ...made.body, token: null }])
  const other = { ...key, name: 'another' }
  expect(await ask('POST', keys, other, once)).toMatchObject({ status: 422, body: { error: 'idempotency_key_reused' } })
  const hook = { url: 'https://hooks.example.org' }
  const twice = { 'idempotency-key': 'twice' }
  const both = await Promise.all([ask('POST', webhooks, hook, twice), ask('POST', webhooks, hook, twice)])
  const shown = both.map(({ body }) => body.secret).filter((secret) => secret !== null)
  expect([shown.length, both[0]?.body.id]).toEqual([1, both[1]?.body.id])
  // A rejected request gives its Idempotency-Key back.
  const third = { 'idempotency-key': 'third' }
  expect((await ask('POST', keys, { ...key, expiresAt: '2020-01-01T00:00:00Z' }, third)).status).toBe(400)
  expect((await ask('POST', keys, key, third)).status).toBe(201)
  // Another key of the same tenant has Idempotency-Keys of its own.
  expect((await as(await newAdmin())('POST', keys, key, once)).body.token).not.toBeNull()

  const { db } = ctx.database
  const stored = JSON.stringify(await db.selectFrom('idempotency_keys').selectAll().execute())
  expect(stored).toContain('POST /api/v1/webhooks')
  for (const secret of [made.body.token, ...shown]) expect(stored).not.toContain(secret)
  expect(stored).not.toMatch(/whsec_|gng_/)
  const tokens = JSON.stringify([
    await db.selectFrom('api_keys').selectAll().execute(),
    await db.selectFrom('audit').selectAll().execute(),
    await db.selectFrom('events').selectAll().execute(),
  ])
  expect(tokens).not.toMatch(/whsec_|gng_/)
})

test('keys are made, listed, limited and revoked by a key of an administrator alone', async () => {
  const { ask, as, tokens, newAdmin } = await administered()
  const made = await ask('POST', keys, { name: 'site', role: 'reader', audience: 'student', expiresAt: null })
  expect([made.status, made.headers.get('cache-control')]).toEqual([201, 'no-store'])
  const { token, ...shown } = made.body
  expect(shown).toMatchObject({ name: 'site', role: 'reader', audience: 'student', createdBy: 'root', limits: null })
  expect((await as(String(token))('GET', '/api/v1/me')).body).toMatchObject({ name: 'site', role: 'reader' })
  const listed = await ask('GET', keys)
  expect(listed.body.keys).toContainEqual({ ...shown, lastUsedAt: expect.any(String) })
  expect(listed.text).not.toContain(token)
  expect(listed.body.keys).toContainEqual(expect.objectContaining({ name: 'root', role: 'admin' }))
  const path = `${keys}/${shown.id}`
  const limits = { pending: 1, approved: null, paths: ['guides'], tags: [] }
  expect((await ask('PATCH', path, { limits })).body).toMatchObject({ limits })
  expect((await ask('PATCH', path, { limits: null })).body).toMatchObject({ limits: null })
  expect((await ask('PATCH', path, {})).status).toBe(400)

  const stranger = as(await newAdmin('umbrella'))
  for (const [method, at, body] of [
    ['GET', keys],
    ['POST', keys, { name: 'mine', role: 'reader' }],
    ['PATCH', path, { limits: null }],
    ['DELETE', path],
  ] as const) {
    for (const held of [tokens.curator, tokens.app, tokens.reader])
      expect(await as(held)(method, at, body)).toMatchObject({ status: 403, body: { error: 'insufficient_role' } })
    if (at === path) expect((await stranger(method, at, body)).status).toBe(404)
  }
  expect((await stranger('GET', keys)).text).not.toContain(String(shown.id))
  expect([(await ask('DELETE', path)).status, (await ask('DELETE', path)).status]).toEqual([204, 204])
  expect((await as(String(token))('GET', '/api/v1/me')).status).toBe(401)
  expect((await ask('DELETE', `${keys}/${nobody}`)).status).toBe(404)
})

test('a person manages by the API what they may in the console', async () => {
  const { request, ctx, tokens } = await administered()
  const [admin, curator] = [await signIn(ctx, 'acme', 'admin'), await signIn(ctx, 'acme', 'curator')]
  const hook = { url: 'https://hooks.example.org' }
  const key = { name: 'mine', role: 'curator' }
  const post = (path: string, { headers }: { headers: Record<string, string> }, body: object) =>
    request('POST', path, { headers, body })
  expect((await post(webhooks, admin, hook)).status).toBe(201)
  expect((await post(keys, admin, key)).status).toBe(201)
  expect((await post(webhooks, curator, hook)).status).toBe(403)
  expect((await post(webhooks, curator, { ...hook, kb: 'handbook' })).status).toBe(201)
  expect((await post(keys, curator, key)).status).toBe(403)
  expect((await request('GET', keys, { headers: curator.headers })).status).toBe(403)
  const { 'x-csrf-token': _, ...forged } = admin.headers
  expect((await post(keys, { headers: forged }, key)).status).toBe(403)
  expect((await post(keys, { headers: { ...admin.headers, authorization: `Bearer ${tokens.app}` } }, key)).status).toBe(
    403,
  )
})

test('a key makes none that may do more than itself, or for longer', async () => {
  const { as, newAdmin, ctx } = await administered()
  const end = new Date(Date.now() + 3_600_000)
  const brief = as(await newAdmin('acme', { expiresAt: end }))
  const make = (more: object) =>
    brief('POST', keys, { name: 'child', role: 'app', expiresAt: end.toISOString(), ...more })
  const field = (name: string) => ({ status: 400, body: { error: { fieldErrors: { [name]: expect.any(Array) } } } })
  expect(await make({ expiresAt: null })).toMatchObject(field('expiresAt'))
  expect(await make({ expiresAt: new Date(end.getTime() + 1).toISOString() })).toMatchObject(field('expiresAt'))
  expect(await make({ expiresAt: '2020-01-01T00:00:00Z' })).toMatchObject(field('expiresAt'))
  expect(await make({ expiresAt: 'tomorrow' })).toMatchObject(field('expiresAt'))
  expect(await make({ connectors: ['feed', 'crm'] })).toMatchObject(field('connectors'))
  expect(await make({ audience: 'student' })).toMatchObject(field('audience'))
  expect(await make({ role: 'owner' })).toMatchObject(field('role'))
  const { body: child } = await make({ role: 'admin', connectors: ['feed'] })
  expect(child).toMatchObject({ role: 'admin', connectors: ['feed'], expiresAt: end.toISOString() })
  const { body: grandchild } = await as(String(child.token))('POST', keys, {
    ...{ name: 'grandchild', role: 'admin', expiresAt: end.toISOString() },
  })
  expect((await as(String(grandchild.token))('GET', keys)).status).toBe(200)
  expect(await ctx.apiKeys.find(String(grandchild.id))).toMatchObject({ makerId: expect.any(String), userId: null })

  // The key of a person who is no administrator any more ends, as do those that it made.
  const { userId } = await signIn(ctx, 'acme', 'admin', { email: 'ada@example.com', name: 'Ada' })
  const { id: tenantId } = await ctx.tenants.ensure('acme', new Date())
  const { token } = await ctx.apiKeys.create(
    { tenantId, name: 'hers', role: 'curator', isAdmin: true, connectors: [], expiresAt: null, userId },
    new Date(),
  )
  const hers = as(token)
  const { body: made } = await hers('POST', keys, { name: 'made', role: 'admin' })
  expect(await ctx.apiKeys.find(String(made.id))).toMatchObject({ userId })
  await ctx.users.setRole(userId, tenantId, 'curator')
  for (const held of [hers, as(String(made.token))]) {
    expect((await held('GET', keys)).status).toBe(401)
    expect((await held('POST', keys, { name: 'more', role: 'reader' })).status).toBe(401)
    expect((await held('GET', webhooks)).status).toBe(401)
  }
  await ctx.users.setRole(userId, tenantId, 'admin')
  expect((await hers('GET', keys)).status).toBe(200)
})

test('the command line manages webhooks and keys of a server by address and key alone', async () => {
  const { url: server, admin, tokens } = await administered()
  const { url, messages } = await receiver()
  const env = { GANGLION_KEY: admin }
  const run = async (...args: string[]) => (await ganglionJson([...args, '--server', server], env)).json
  const made = (await run('webhook', 'add', url, '--kb', 'handbook', '--kind', 'kb.pushed')) as Record<string, string>
  expect(made).toEqual({ id: expect.any(String), url, secret: expect.stringMatching(secretShape) })
  const { id = '', secret = '' } = made
  expect(await run('webhook', 'list')).toMatchObject({ webhooks: [{ id, kb: 'handbook', kinds: ['kb.pushed'] }] })
  const { stdout } = await ganglion(['webhook', 'list', '--server', server], env)
  expect(stdout).toContain(url)
  expect(stdout).not.toContain(secret)
  expect(await run('webhook', 'test', id)).toEqual({ id, status: 204, taken: true })
  const rotated = (await run('webhook', 'rotate', id)) as Record<string, string>
  expect(rotated).toEqual({ id, secret: expect.stringMatching(secretShape), formerSecretUntil: expect.any(String) })
  await run('webhook', 'test', id)
  expect(messages[1] && [secret, rotated.secret].map((one) => isSignedBy(messages[1] as Message, one))).toEqual([
    true,
    true,
  ])
  expect(await run('webhook', 'replay', id)).toEqual({ id, from: expect.any(Number), events: expect.any(Number) })
  expect(await run('webhook', 'remove', id)).toEqual({ id, removed: true })
  expect(await run('webhook', 'remove', id)).toEqual({ error: `There is no webhook ${id}.` })
  expect(await run('webhook', 'add', url, '--kb', 'nothing')).toEqual({
    error: 'The tenant has no knowledge base nothing.',
  })

  const key = (await run('key', 'create', '--role', 'app', '--name', 'site', '--expires', '90d')) as Record<
    string,
    string
  >
  expect(key).toEqual({ id: expect.any(String), role: 'app', token: expect.stringMatching(/^gng_/) })
  expect(await run('key', 'limit', String(key.id), '--max-pending', '3')).toMatchObject({ limits: { pending: 3 } })
  const { keys: listed } = (await run('key', 'list')) as { keys: Record<string, unknown>[] }
  expect(listed.at(-1)).toMatchObject({ id: key.id, name: 'site', limits: { pending: 3 } })
  expect(await run('key', 'revoke', String(key.id))).toEqual({ id: key.id, revoked: true })
  expect(await run('key', 'revoke', nobody)).toEqual({ error: `There is no API key ${nobody}.` })

  const refused = (args: string[], held: Record<string, string>) => ganglion([...args, '--server', server], held)
  expect(await refused(['key', 'list'], { GANGLION_KEY: tokens.curator })).toMatchObject({
    ...{ code: 1, stderr: 'error: The role of the API key or person does not allow this.\n' },
  })
  expect((await refused(['webhook', 'list'], {})).stderr).toMatch(/GANGLION_KEY must hold an administrator's API key/)
  expect(await refused(['webhook', 'list', '--tenant', 'acme'], env)).toMatchObject({ code: 2 })
  expect(await ganglion(['key', 'list', '--server', 'http://127.0.0.1:1'], env)).toMatchObject({ code: 1 })
  expect(await ganglion(['key', 'create', '--role', 'app'], env)).toMatchObject({ code: 1 })
})

test('a key that is revoked while a slow body arrives writes nothing', async () => {
  const { ask, newAdmin, url } = await administered()
  const token = await newAdmin('acme', { name: 'slow' })
  const { body } = await ask('GET', keys)
  const { id } = Object(body).keys.find(({ name }: { name: string }) => name === 'slow')
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const sent = request(`${url}${keys}`, { method: 'POST', headers })
  const answered = once(sent, 'response')
  sent.write('{"name": "ghost", ')
  await delay(300)
  expect((await ask('DELETE', `${keys}/${id}`)).status).toBe(204)
  await delay(900)
  sent.end('"role": "admin"}')
  const [answer] = await answered
  expect(answer.statusCode).toBe(401)
  answer.resume()
  expect(JSON.stringify((await ask('GET', keys)).body)).not.toContain('ghost')
})

test('a key passes its limits on, cannot lift them, and is no owner by the name of another key or person', async () => {
  const { ask, as, newAdmin, ctx } = await administered()
  const limits = { pending: 1, approved: null, paths: ['guides'], tags: [] }
  const limited = as(await newAdmin('acme', { name: 'limited', limits }))
  const { body: child } = await limited('POST', keys, { name: 'free', role: 'app' })
  expect(child).toMatchObject({ limits })
  const { body: all } = await ask('GET', keys)
  for (const { id } of Object(all).keys)
    expect((await limited('PATCH', `${keys}/${id}`, { limits: null })).status).toBe(403)

  const late = await ask('POST', keys, { name: 'late', role: 'app', expiresAt: '9999-12-31T23:59:59-23:59' })
  expect([late.status, (await ask('GET', keys)).status]).toEqual([400, 200])

  const { userId } = await signIn(ctx, 'acme', 'curator', { email: 'ann@example.com', name: 'Ann' })
  const tenantId = (await ctx.tenants.find('acme'))?.id ?? ''
  for (const name of ['ann@example.com', 'Legal desk']) {
    const { body } = await ask('POST', keys, { name, role: 'curator' })
    expect((await whoIs(ctx, tenantId, `key:${Object(body).id}`)).names).toEqual([])
  }
  expect((await whoIs(ctx, tenantId, `user:${userId}`)).names).toEqual(['ann@example.com'])
})
