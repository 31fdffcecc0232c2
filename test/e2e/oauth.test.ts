import { expect, test, vi } from 'vitest'
import { consoleRoutes } from '../../src/console/console.ts'
import { listApiKeys } from '../../src/people/manage-api-keys.ts'
import { changePerson, changeRole, operatorOf } from '../../src/people/manage-people.ts'
import { AgentKeeper, agentCallback, askToConnect, connectedAgent } from '../support/agent.ts'
import { signIn } from '../support/person.ts'
import { type Product, startProduct } from './support.ts'

type Headers = Record<string, string>

/** Goes where a browser is sent, with its cookies, to a page or out of the server. */
async function follow(from: string, { cookie = '' }: Headers): Promise<{ url: string; cookie: string; text: string }> {
  const cookies = new Map(cookie.split('; ').map((pair) => [pair.split('=')[0], pair] as const))
  let url = from
  for (;;) {
    const response = await fetch(url, { redirect: 'manual', headers: { cookie: [...cookies.values()].join('; ') } })
    for (const set of response.headers.getSetCookie()) cookies.set(set.split('=')[0], set.split(';')[0] ?? '')
    const text = await response.text()
    const location = response.headers.get('location')
    if (location === null) return { url, cookie: [...cookies.values()].join('; '), text }
    url = new URL(location, url).href
    if (url.startsWith(agentCallback)) return { url, cookie: '', text }
  }
}

/** A person who is signed in answers the consent page; gives where the agent's browser ends. */
async function answer(sentTo: string, headers: Headers, form: Headers) {
  const { url, cookie, text } = await follow(sentTo, headers)
  const body = new URLSearchParams({ _csrf: headers['x-csrf-token'] ?? '', ...form })
  const sent = { 'sec-fetch-site': 'same-origin', 'content-type': 'application/x-www-form-urlencoded', cookie }
  const response = await fetch(url, { method: 'POST', headers: sent, body, redirect: 'manual' })
  const back = response.headers.get('refresh')?.replace('0; url=', '') ?? ''
  return { page: text, status: response.status, end: await follow(back, { cookie }) }
}

async function connect(product: Product, headers: Headers, form: Headers = { decision: 'allow', propose: 'true' }) {
  const keeper = new AgentKeeper()
  const transport = await askToConnect(product.url, keeper)
  const { page, end } = await answer(keeper.sentTo, headers, form)
  await transport.finishAuth(new URL(end.url).searchParams)
  return { keeper, page }
}

async function toolsOf(product: Product, keeper: AgentKeeper): Promise<string[]> {
  const client = await connectedAgent(product.url, keeper)
  return (await client.listTools()).tools.map(({ name }) => name)
}

const start = (more: object = {}) => startProduct({ pages: consoleRoutes, ...more })

/** Presents a token to the protocol. */
async function statusOf({ url }: Product, token = ''): Promise<number> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
  return (await fetch(`${url}/mcp`, { method: 'POST', headers, body })).status
}

test('an agent registers, is let in by a curator, and proposes under a key of its own', async () => {
  const product = await start()
  const { headers, userId } = await signIn(product.ctx, 'acme', 'curator', { name: 'Ada' })
  const { keeper, page } = await connect(product, headers)
  expect(page).toContain('Test agent')
  expect(page).toContain('handbook')
  expect(page).toContain('127.0.0.1:8976')
  const client = await connectedAgent(product.url, keeper)
  const args = { kb: 'handbook', action: 'new', title: 'VIP policy', content: 'Page the lead.' }
  const receipt = await client.callTool({ name: 'propose', arguments: args })
  expect(receipt.structuredContent).toMatchObject({ status: 'pending' })
  const [key] = await product.ctx.apiKeys.agentsOf(userId)
  expect(key).toMatchObject({ name: 'Test agent', role: 'app', createdBy: 'Ada' })
  const { keys } = await listApiKeys(product.ctx, { id: '', name: '', tenantId: key?.tenantId ?? '', isAdmin: true })
  expect(keys.filter(({ isAgent }) => isAgent).map(({ name }) => name)).toEqual(['Test agent'])
  const admin = await signIn(product.ctx, 'acme', 'admin', { email: 'root@acme.example' })
  const list = await (await fetch(`${product.url}/settings/keys`, { headers: admin.headers })).text()
  expect(list.match(/<th scope="row"><bdi>(?:(?!<\/th>).)*let in with OAuth/g)).toEqual([
    expect.stringContaining('Test agent'),
  ])
  const rows = await product.ctx.database.db.selectFrom('oauth_records').select(['hash', 'payload']).execute()
  for (const secret of [keeper.held?.access_token ?? '', keeper.held?.refresh_token ?? '']) {
    expect(secret).toMatch(/^[\w-]{43}$/)
    expect(rows.some(({ hash, payload }) => `${hash}${payload}`.includes(secret))).toBe(false)
  }
})

test('a person grants less than is asked, or nothing', async () => {
  const product = await start()
  const curator = await signIn(product.ctx, 'acme', 'curator')
  const less = await connect(product, curator.headers, { decision: 'allow' })
  expect(await toolsOf(product, less.keeper)).not.toContain('propose')
  expect(less.keeper.held?.scope).toBe('read')
  const reader = await signIn(product.ctx, 'acme', 'reader', { email: 'eve@example.com' })
  const asReader = await connect(product, reader.headers)
  expect(asReader.page).not.toContain('It may also propose')
  expect(await toolsOf(product, asReader.keeper)).not.toContain('propose')
  const keeper = new AgentKeeper()
  await askToConnect(product.url, keeper)
  const { end } = await answer(keeper.sentTo, curator.headers, { decision: 'deny' })
  expect(new URL(end.url).searchParams.get('error')).toBe('access_denied')
})

test('another scope, another resource, no PKCE and another place to go back to are refused', async () => {
  const product = await start()
  const { headers } = await signIn(product.ctx, 'acme', 'curator')
  const keeper = new AgentKeeper()
  await askToConnect(product.url, keeper)
  const errorWith = async (changes: Headers) => {
    const url = new URL(keeper.sentTo)
    for (const [name, value] of Object.entries(changes)) url.searchParams.set(name, value)
    for (const [name, value] of Object.entries(changes)) if (value === '') url.searchParams.delete(name)
    const end = await follow(url.href, headers)
    return new URL(end.url).searchParams.get('error') ?? end.text
  }
  expect(await errorWith({ resource: 'https://other.example/mcp' })).toBe('invalid_target')
  expect(await errorWith({ code_challenge: '', code_challenge_method: '' })).toBe('invalid_request')
  expect(await errorWith({ code_challenge_method: 'plain' })).toBe('invalid_request')
  expect(await errorWith({ redirect_uri: 'https://evil.example/' })).toContain('invalid_redirect_uri')
  expect(await errorWith({ scope: 'read admin' })).toBe('invalid_scope')
})

test('tokens are refreshed with rotation, and a refresh token that was used ends the grant', async () => {
  const product = await start()
  const { headers } = await signIn(product.ctx, 'acme', 'curator')
  const { keeper } = await connect(product, headers)
  const [first, clientId] = [keeper.held, keeper.known?.client_id ?? '']
  const refresh = (token = '') =>
    fetch(`${product.url}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({ grant_type: 'refresh_token', refresh_token: token, client_id: clientId }),
    })
  const second = (await (await refresh(first?.refresh_token)).json()) as { access_token: string; refresh_token: string }
  expect(second.refresh_token).not.toBe(first?.refresh_token)
  expect(await statusOf(product, second.access_token)).toBe(200)
  expect((await refresh(first?.refresh_token)).status).toBe(400)
  expect(await statusOf(product, second.access_token)).toBe(401)
  expect((await refresh(second.refresh_token)).status).toBe(400)
})

test('an agent is refused once it gives its token back, is disconnected, or its person goes', async () => {
  const product = await start()
  const { ctx, url } = product
  const { headers, userId } = await signIn(ctx, 'acme', 'curator')
  const revoked = await connect(product, headers)
  const token = revoked.keeper.held?.refresh_token ?? ''
  const body = new URLSearchParams({ token, client_id: revoked.keeper.known?.client_id ?? '' })
  expect((await fetch(`${url}/oauth/revoke`, { method: 'POST', body })).status).toBe(200)
  expect(await statusOf(product, revoked.keeper.held?.access_token)).toBe(401)
  expect(await ctx.apiKeys.agentsOf(userId)).toEqual([])

  const { keeper } = await connect(product, headers)
  expect(await statusOf(product, keeper.held?.access_token)).toBe(200)
  const api = await fetch(`${url}/api/v1/me`, { headers: { authorization: `Bearer ${keeper.held?.access_token}` } })
  expect(api.status).toBe(401)
  const [agent] = await ctx.apiKeys.agentsOf(userId)
  const page = await (await fetch(`${url}/account`, { headers: { ...headers, accept: 'text/html' } })).text()
  expect(page).toContain(`/account/agents/${agent?.id}/end`)
  const ended = await fetch(`${url}/account/agents/${agent?.id}/end`, { method: 'POST', headers, redirect: 'manual' })
  expect(ended.headers.get('location')).toBe('/account?done=agent')
  expect(await statusOf(product, keeper.held?.access_token)).toBe(401)
  const again = { grant_type: 'refresh_token', refresh_token: keeper.held?.refresh_token ?? '' }
  const form = new URLSearchParams({ ...again, client_id: keeper.known?.client_id ?? '' })
  expect((await fetch(`${url}/oauth/token`, { method: 'POST', body: form })).status).toBe(400)

  const last = await connect(product, headers)
  await ctx.users.setDisabled(userId, new Date())
  expect(await statusOf(product, last.keeper.held?.access_token)).toBe(401)
})

test('the consent page is for the browser that was sent there, and for people who are signed in', async () => {
  const product = await start()
  const { headers } = await signIn(product.ctx, 'acme', 'curator')
  const keeper = new AgentKeeper()
  await askToConnect(product.url, keeper)
  const stranger = await follow(keeper.sentTo, {})
  expect(stranger.url).toContain('/sign-in?next=%2Foauth%2Fconsent%2F')
  const consent = new URL(decodeURIComponent(new URL(stranger.url).searchParams.get('next') ?? ''), product.url)
  const other = await fetch(consent, { headers: { ...headers, accept: 'text/html' } })
  expect(other.status).toBe(410)
})

test('below a path prefix, the metadata names the public address', async () => {
  const { url } = await start({ publicUrl: 'https://example.com/kb' })
  const json = async (path: string) => (await (await fetch(url + path)).json()) as Record<string, unknown>
  const answer = await fetch(`${url}/mcp`, { method: 'POST' })
  const resource = 'https://example.com/kb/mcp'
  const metadata = 'https://example.com/kb/.well-known/oauth-protected-resource/mcp'
  expect(answer.headers.get('www-authenticate')).toBe(`Bearer resource_metadata="${metadata}"`)
  for (const path of ['/kb/.well-known/oauth-protected-resource/mcp', '/.well-known/oauth-protected-resource/kb/mcp']) {
    expect(await json(path)).toMatchObject({ resource, authorization_servers: ['https://example.com/kb'] })
  }
  for (const path of ['/.well-known/oauth-authorization-server/kb', '/kb/.well-known/openid-configuration']) {
    expect(await json(path)).toMatchObject({
      issuer: 'https://example.com/kb',
      authorization_endpoint: 'https://example.com/kb/oauth/authorize',
      token_endpoint: 'https://example.com/kb/oauth/token',
      registration_endpoint: 'https://example.com/kb/oauth/register',
      revocation_endpoint: 'https://example.com/kb/oauth/revoke',
      code_challenge_methods_supported: ['S256'],
      scopes_supported: expect.arrayContaining(['read', 'propose']),
    })
  }
})

test('strangers can neither fill the database nor make the server fetch for them', async () => {
  const { url, ctx } = await start()
  const register = async (more: object) => {
    const body = JSON.stringify({ redirect_uris: [agentCallback], ...more })
    const headers = { 'content-type': 'application/json' }
    return (await fetch(`${url}/oauth/register`, { method: 'POST', headers, body })).status
  }
  const fetched = vi.spyOn(globalThis, 'fetch')
  expect(await register({ sector_identifier_uri: 'https://example.com/callbacks' })).toBe(400)
  expect(fetched.mock.calls.map(([target]) => String(target))).toEqual([`${url}/oauth/register`])
  fetched.mockRestore()
  expect(await register({ client_name: 'a'.repeat(8_000) })).toBe(400)
  expect(await register({ client_name: 'a'.repeat(7_000) })).toBe(201)
  const ends = await ctx.database.db.selectFrom('oauth_records').select(['model', 'expires_at']).execute()
  expect(ends.filter(({ model }) => model !== 'Seed')).toEqual([{ model: 'Client', expires_at: expect.any(String) }])
})

test('of what nobody has let in, only the last is kept', async () => {
  const { oauthRecords, now } = (await start()).ctx
  for (const [id, minutes] of Object.entries({ first: 1, kept: 2, last: 3 })) {
    const expiresAt = new Date(Date.now() + minutes * 60_000)
    await oauthRecords.put('Client', id, { payload: {}, grantId: null, expiresAt })
  }
  await oauthRecords.keep('Client', 'kept')
  await oauthRecords.trim('Client', 1)
  const known = ['first', 'kept', 'last'].map(
    async (id) => (await oauthRecords.find('Client', id, now())) !== undefined,
  )
  expect(await Promise.all(known)).toEqual([false, true, true])
})

test('a disabled person, and one without a role, have no agents any more, also once they are back', async () => {
  const product = await start()
  const { ctx, url } = product
  await signIn(ctx, 'acme', 'admin', { email: 'root@acme.example' })
  const administrator = operatorOf((await ctx.tenants.find('acme'))?.id ?? '')
  for (const [gone, back] of [
    ['disable', 'enable'],
    ['none', 'curator'],
  ] as const) {
    const { headers, userId } = await signIn(ctx, 'acme', 'curator', { email: `${gone}@acme.example` })
    const { keeper } = await connect(product, headers)
    const change = (to: typeof gone | typeof back) =>
      to === 'disable' || to === 'enable'
        ? changePerson(ctx, administrator, userId, to)
        : changeRole(ctx, administrator, userId, to)
    await change(gone)
    await change(back)
    expect(await statusOf(product, keeper.held?.access_token)).toBe(401)
    const again = { grant_type: 'refresh_token', refresh_token: keeper.held?.refresh_token ?? '' }
    const form = new URLSearchParams({ ...again, client_id: keeper.known?.client_id ?? '' })
    expect((await fetch(`${url}/oauth/token`, { method: 'POST', body: form })).status).toBe(400)
    expect(await ctx.apiKeys.agentsOf(userId)).toEqual([])
  }
  const left = await ctx.database.db
    .selectFrom('oauth_records')
    .select('model')
    .where('model', '!=', 'Client')
    .execute()
  expect(left.map(({ model }) => model).filter((model) => /Token|Code|Grant/.test(model))).toEqual([])
})

test('the database holds neither secrets of clients nor a key of cookies, and a client signs in with its secret alone', async () => {
  const { ctx, url } = await start()
  const register = await fetch(`${url}/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ redirect_uris: [agentCallback], token_endpoint_auth_method: 'client_secret_post' }),
  })
  const client = (await register.json()) as { client_id: string; client_secret: string }
  const rows = await ctx.database.db.selectFrom('oauth_records').select(['model', 'payload']).execute()
  expect(rows.map(({ model }) => model)).toEqual(['Client'])
  expect(rows[0]?.payload).not.toContain(client.client_secret)
  const stored: string = JSON.parse(rows[0]?.payload ?? '{}').client_secret
  const errorWith = async (secret: string) => {
    const grant = { grant_type: 'refresh_token', refresh_token: 'x'.repeat(43) }
    const body = new URLSearchParams({ ...grant, client_id: client.client_id, client_secret: secret })
    return Object(await (await fetch(`${url}/oauth/token`, { method: 'POST', body })).json()).error
  }
  const signsIn = async () => {
    expect(await errorWith(client.client_secret)).toBe('invalid_grant')
    for (const wrong of [stored, 'wrong', stored.replace('sha256:', '')])
      expect(await errorWith(wrong)).toBe('invalid_client')
  }
  await signsIn()

  // A node of version 0.1.0 that serves during an upgrade keeps the secret in clear.
  const payload = String(rows[0]?.payload).replace(stored, client.client_secret)
  await ctx.database.db.updateTable('oauth_records').set({ payload }).where('model', '=', 'Client').execute()
  await signsIn()
  for (const _ of [1, 2]) {
    await ctx.oauthRecords.sweep(ctx.now())
    expect(await ctx.database.db.selectFrom('oauth_records').select(['model', 'payload']).execute()).toEqual(rows)
    await signsIn()
  }
})
