import { afterAll, beforeAll, expect, test } from 'vitest'
import { openSession } from '../../../src/people/person-session.ts'
import { signIn } from '../../support/person.ts'
import { type Browser, type Console, startConsole, visit } from '../support.ts'

const hostile = '"><img src=x onerror=alert(1)>'
let console: Console
let admin: Browser

beforeAll(async () => {
  console = await startConsole()
  admin = await console.browser('admin')
})
afterAll(() => console.close())

test('people and the audit are for administrators', async () => {
  for (const role of ['reader', 'curator'] as const) {
    const browser = await console.browser(role)
    for (const path of ['/settings/people', '/settings/audit']) expect((await browser.get(path)).status).toBe(403)
    const invited = await browser.post('/settings/people', { email: 'x@example.com', name: 'X', role: 'admin' })
    const raised = await browser.post(`/settings/people/${browser.userId}/role`, { role: 'admin' })
    expect([invited.status, raised.status]).toEqual([403, 403])
  }
  expect((await admin.get('/settings/people')).body).not.toContain('x@example.com')
})

test('who is invited is shown with a link, once, that lets them choose a password', async () => {
  const page = await admin.post('/settings/people', { email: 'bob@example.com', name: 'Bob 🦊 بوب', role: 'reader' })
  const [url = ''] = page.texts('.notice code')
  expect(url).toMatch(/^http:\/\/localhost\/set-up\?link=[\w-]{43}$/)
  expect((await admin.get('/settings/people')).body).not.toContain(url)
  const { pathname, search } = new URL(url)
  const opened = await visit(console.app, { method: 'GET', url: pathname + search, headers: { accept: 'text/html' } })
  expect(opened.texts('h1, main bdi')).toEqual(['Choose a password', 'Bob 🦊 بوب'])
  const listed = (await admin.get('/settings/people')).texts('tbody tr').find((row) => row.includes('bob@'))
  expect(listed).toContain('invited not signed in')
})

test('an invitation that is wrong keeps what was typed', async () => {
  const page = await admin.post('/settings/people', { email: hostile, name: hostile, role: 'owner' })
  expect([page.status, page.texts('.field .error').length]).toEqual([400, 3])
  expect(page.document.querySelector('#field-email')?.getAttribute('value')).toBe(hostile)
  expect(page.document.querySelector('img')).toBeNull()
  const taken = await admin.post('/settings/people', { email: 'Admin@example.com', name: 'A', role: 'reader' })
  expect([taken.status, ...taken.texts('.field .error')]).toEqual([400, 'belongs to somebody already'])
})

test('a role is changed, a person disabled, enabled, signed out, and given a link', async () => {
  const { userId, token } = await signIn(console.ctx, 'acme', 'reader', { email: 'cleo@example.com' })
  const path = `/settings/people/${userId}`
  const row = async () => (await admin.get('/settings/people')).texts('tbody tr').find((text) => text.includes('cleo@'))
  expect((await admin.post(`${path}/role`, { role: 'curator' })).headers.location).toBe('/settings/people?done=role')
  expect((await openSession(console.ctx, token))?.session.role).toBe('curator')
  expect((await admin.post(`${path}/end-sessions`)).status).toBe(303)
  expect(await openSession(console.ctx, token)).toBeUndefined()
  expect((await admin.post(`${path}/disable`)).status).toBe(303)
  expect(await row()).toContain('disabled')
  expect((await admin.post(`${path}/enable`)).status).toBe(303)
  const linked = await admin.post(`${path}/link`)
  expect(linked.texts('.notice strong, .notice code')).toEqual([
    'cleo@example.com',
    expect.stringMatching(/set-up\?link=/),
  ])
  expect((await admin.post(`${path}/role`, { role: 'none' })).status).toBe(303)
  expect(await row()).toBeUndefined()
  expect((await admin.post(`${path}/role`, { role: 'reader' })).status).toBe(404)
  expect((await admin.post(`${path}/delete`)).status).toBe(404)
})

test('the last administrator stays', async () => {
  for (const [action, fields] of [
    ['role', { role: 'reader' }],
    ['role', { role: 'none' }],
    ['disable', {}],
  ] as const) {
    const page = await admin.post(`/settings/people/${admin.userId}/${action}`, fields)
    expect([page.status, page.texts('main p')[0]]).toEqual([
      409,
      'A tenant needs an administrator. Make another person an administrator first.',
    ])
  }
})

test('the audit says who did what, to whom and from where', async () => {
  await admin.post('/account/name', { name: 'Ada 🦊' })
  await admin.post('/settings/people', { email: 'eve@example.com', name: 'Eve', role: 'curator' })
  const page = await admin.get('/settings/audit')
  expect(page.texts('tbody tr')[0]).toMatch(
    /^just now Ada 🦊 user:[\da-f-]{36} invited eve@example\.com, as curator 127\.0\.0\.1$/,
  )
  const { tenantId } = console
  const { audit, now } = console.ctx
  for (let index = 0; index < 60; index++) {
    const entry = { actor: { id: 'user:1', name: hostile }, action: hostile, subject: hostile, detail: hostile }
    await audit.record(tenantId, { ...entry, address: hostile }, now())
  }
  const full = await admin.get('/settings/audit')
  expect([full.texts('tbody tr').length, full.document.querySelector('img')]).toEqual([50, null])
  const older = full.document.querySelector('a[href^="/settings/audit?before="]')?.getAttribute('href') ?? ''
  expect((await admin.get(older)).texts('tbody tr').length).toBeGreaterThan(10)
  expect((await admin.get('/settings/audit?before=x')).status).toBe(400)
})

test("another tenant's people are not there", async () => {
  const other = await console.browser('admin', { tenant: 'umbrella', email: 'other@example.com' })
  const page = await other.get('/settings/people')
  expect(page.texts('tbody th')).toEqual(['Some admin other@example.com'])
  expect((await other.post(`/settings/people/${admin.userId}/disable`)).status).toBe(404)
  expect((await other.get('/settings/audit')).body).not.toContain('eve@example.com')
})
