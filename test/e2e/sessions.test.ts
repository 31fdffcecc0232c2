import { expect, test, vi } from 'vitest'
import { signIn } from '../support/person.ts'
import { startProduct } from './support.ts'

const queue = '/api/v1/queue/candidates'
const candidate = { kb: 'handbook', kind: 'external-feed', title: 'VIP policy', content: 'Page the lead.' }

test('a curator works by session: what they approve carries their name and id', async () => {
  const { ganglion, request } = await startProduct()
  const { headers, userId } = await signIn(ganglion, 'acme', 'curator', { name: 'Ada Lovelace' })
  const made = await request('POST', queue, { headers, body: candidate })
  expect(made.status).toBe(201)
  expect(made.headers.get('cache-control')).toBe('no-store')
  const approved = await request('POST', `${queue}/${made.body.candidateId}/approve`, { headers, body: {} })
  expect(approved.status).toBe(200)
  const [kb] = await ganglion.openKbs()
  const commit = await kb?.repository.readTextOnce(String(approved.body.commit))
  expect(commit).toContain(`Approved-By: Ada Lovelace <user:${userId}>`)
})

test('a reader reads, and decides nothing', async () => {
  const { ganglion, request } = await startProduct()
  const { headers } = await signIn(ganglion, 'acme', 'reader')
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
  const { ganglion, request, url } = await startProduct()
  const { headers } = await signIn(ganglion, 'acme', 'curator')
  const { cookie, 'x-csrf-token': token } = headers
  const other = await signIn(ganglion, 'acme', 'curator', { email: 'eve@example.com' })
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
  const { ganglion, request, tokens } = await startProduct()
  const { headers } = await signIn(ganglion, 'acme', 'curator')
  expect((await request('GET', queue, { headers: { ...headers, authorization: 'Bearer nobody' } })).status).toBe(401)
  const byKey = await request('GET', queue, { headers: { ...headers, authorization: `Bearer ${tokens.app}` } })
  expect(byKey.status).toBe(403)
  for (const value of [tokens.curator, '', 'x'.repeat(43), `${headers.cookie}x`]) {
    expect((await request('GET', queue, { headers: { cookie: `ganglion=${value}` } })).status).toBe(401)
  }
})

test('git and agents take keys only', async () => {
  const { ganglion, request } = await startProduct()
  const { headers } = await signIn(ganglion, 'acme', 'curator')
  const git = await request('GET', '/git/acme/handbook.git/info/refs?service=git-upload-pack', { headers })
  const mcp = await request('POST', '/mcp', { headers, body: { jsonrpc: '2.0', id: 1, method: 'ping' } })
  expect([git.status, mcp.status]).toEqual([401, 401])
})

test('a new role has a new token, and what was on its way with the old one still arrives', async () => {
  const { ganglion, request } = await startProduct()
  const { headers, userId, token } = await signIn(ganglion, 'acme', 'reader')
  const tenant = await ganglion.tenants.find('acme')
  await ganglion.users.setRole(userId, tenant?.id ?? '', 'curator')
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
  const { ganglion, request, kbId } = await startProduct()
  const { headers } = await signIn(ganglion, 'umbrella', 'admin')
  const path = `/api/v1/knowledge-bases/${kbId}/search?q=x`
  expect((await request('GET', path, { headers })).status).toBe(404)
  expect((await request('GET', '/api/v1/knowledge-bases', { headers })).body).toEqual({ knowledgeBases: [] })
})

test('a stream of events asks again every five minutes whether a person may still read it', async () => {
  const { ganglion, url, tokens } = await startProduct()
  const { headers } = await signIn(ganglion, 'acme', 'curator')
  const timeout = vi.spyOn(AbortSignal, 'timeout')
  const ageOf = async (by: Record<string, string>) => {
    timeout.mockClear()
    const closing = new AbortController()
    const answer = await fetch(`${url}/api/v1/events`, { headers: by, signal: closing.signal })
    closing.abort()
    return [answer.status, timeout.mock.calls.flat().at(-1)]
  }
  expect(await ageOf({ cookie: headers.cookie })).toEqual([200, 5 * 60_000])
  expect(await ageOf({ authorization: `Bearer ${tokens.curator}` })).toEqual([200, 60 * 60_000])
  timeout.mockRestore()
})
