import { afterAll, beforeAll, expect, test } from 'vitest'
import { withPrefix } from '../../../src/http/path-prefix.ts'
import { buildServer } from '../../../src/http/server.ts'
import { hashPassword } from '../../../src/people/password.ts'
import { signIn } from '../../support/person.ts'
import { type Console, startConsole, visit } from '../support.ts'

const password = 'kolibri tanzt leise'
let console: Console

beforeAll(async () => {
  console = await startConsole({ publicUrl: 'https://kb.example.org' })
})
afterAll(() => console.close())

function post(path: string, fields: Record<string, string>, headers: Record<string, string>) {
  const type = { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html', host: 'kb.example.org' }
  const payload = new URLSearchParams(fields).toString()
  return visit(console.app, { method: 'POST', url: path, headers: { ...type, ...headers }, payload })
}

test('behind TLS the cookie is bound to the host and to TLS, and no other counts', async () => {
  const { users, now } = console.ctx
  const user = await users.create(
    { email: 'ada@example.com', name: 'Ada', passwordHash: await hashPassword(password) },
    now(),
  )
  await users.setRole(user?.id ?? '', console.tenantId, 'curator')
  const form = { email: 'ada@example.com', password }
  const answer = await post('/sign-in', form, { origin: 'https://kb.example.org' })
  expect(answer.headers['set-cookie']).toEqual([
    expect.stringMatching(/^__Host-ganglion=[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; Secure; SameSite=Lax$/),
    expect.stringMatching(
      /^__Host-ganglion-device=[\w.-]+; Max-Age=15552000; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    ),
  ])
  const token = /=([^;]*)/.exec(String(answer.headers['set-cookie']))?.[1] ?? ''
  const get = async (cookie: string) =>
    (await visit(console.app, { method: 'GET', url: '/account', headers: { cookie, accept: 'text/html' } })).status
  expect(await get(`__Host-ganglion=${token}`)).toBe(200)
  // What another host of the domain could have set.
  const { token: planted } = await signIn(console.ctx, 'acme', 'reader', { email: 'eve@example.com' })
  expect(await get(`ganglion=${planted}`)).toBe(302)
  expect(await get(`ganglion=${planted}; __Host-ganglion=${token}; __host-ganglion=${planted}`)).toBe(200)
  for (const origin of ['http://kb.example.org', 'https://evil.example.org', 'https://kb.example.org.']) {
    expect((await post('/sign-in', form, { origin })).status).toBe(403)
  }
})

test('behind a proxy the public URL says where forms come from, whatever the host is called inside', async () => {
  const form = { email: 'nobody@example.com', password }
  const inside = { host: '10.0.0.7:4870' }
  expect((await post('/sign-in', form, { ...inside, origin: 'https://kb.example.org' })).status).toBe(401)
  expect((await post('/sign-in', form, { ...inside, origin: 'https://kb.example.org:8443' })).status).toBe(403)
})

test('a client is where a proxy that is trusted says, and nobody else is believed', async () => {
  for (const [trustedProxies, address] of [
    [['loopback'], '198.51.100.7'],
    [['10.0.0.0/8'], '127.0.0.1'],
    [undefined, '127.0.0.1'],
  ] as const) {
    const seen: string[] = []
    const app = await buildServer(console.ctx, {
      ...(trustedProxies && { trustedProxies: [...trustedProxies] }),
      pages: async (pages) => {
        pages.get('/ip', async ({ ip }) => {
          seen.push(ip)
          return ''
        })
      },
    })
    await app.inject({ url: '/ip', headers: { 'x-forwarded-for': '203.0.113.1, 198.51.100.7' } })
    await app.close()
    expect(seen).toEqual([address])
  }
})

test('below a path, cookies, redirects and pages have its prefix, and text has not', async () => {
  const { app, ctx, close } = await startConsole({ publicUrl: 'https://example.com/kb/' })
  try {
    const { token } = await signIn(ctx, 'acme', 'curator')
    const accept = { accept: 'text/html' }
    const get = (url: string, headers = {}) => visit(app, { method: 'GET', url, headers: { ...accept, ...headers } })
    const cookie = `__Secure-ganglion=${token}`
    for (const path of ['/kb', '/kb/', '/kb?page=2', '/']) expect((await get(path, { cookie })).status).toBe(200)
    expect((await get('/kb/kb/handbook', { cookie })).texts('h1')).toEqual(['handbook'])
    expect((await get('/kb/handbook', { cookie })).status).toBe(404)
    const stripped = { cookie, 'x-forwarded-prefix': '/kb' }
    expect((await get('/kb/handbook', stripped)).texts('h1')).toEqual(['handbook'])
    expect((await get('/kb/account')).headers.location).toBe('/kb/sign-in?next=%2Faccount')
    const fragment = { 'hx-request': 'true', 'hx-current-url': 'https://example.com/kb/queue?zone=red' }
    expect((await get('/kb/queue', fragment)).headers['hx-redirect']).toBe('/kb/sign-in?next=%2Fqueue%3Fzone%3Dred')
    const { headers } = await app.inject({ url: '/kb/api/v1/knowledge-bases' })
    expect(headers['www-authenticate']).toBe('Bearer')
    const signOut = { cookie, 'sec-fetch-site': 'same-origin', 'x-csrf-token': 'stale' }
    const { body } = await visit(app, { method: 'POST', url: '/kb/sign-out', headers: { ...accept, ...signOut } })
    expect(body).toContain('href="/kb/"')
  } finally {
    await close()
  }
  const text =
    '<p title="x > y" data-note=" href=&quot;/a"> href="/queue" <a href="//host/"></a><img src="/files/a.png">'
  expect(withPrefix(text, '/kb')).toBe(text.replace('src="/files', 'src="/kb/files'))
})

test('what a session sees is kept in no cache', async () => {
  const { app, browser } = await startConsole()
  try {
    const { headers, get } = await browser('curator')
    for (const path of ['/account', '/nonsense']) expect((await get(path)).headers['cache-control']).toBe('no-store')
    for (const url of ['/api/v1/knowledge-bases', '/api/v1/nothing', '/api/v1/queue/candidates?limit=0']) {
      expect((await app.inject({ url, headers })).headers['cache-control']).toBe('no-store')
    }
  } finally {
    await app.close()
  }
})
