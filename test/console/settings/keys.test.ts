import { afterAll, beforeAll, expect, test } from 'vitest'
import { isToken } from '../../../src/state/accounts/secret.ts'
import { type Browser, type Console, startConsole, visit } from '../support.ts'

const hostile = `"><script>alert(1)</script>`

let started: Console
let admin: Browser
beforeAll(async () => {
  started = await startConsole()
  admin = await started.browser('admin', { name: hostile })
})
afterAll(() => started.close())

const path = '/settings/keys'

test('a key is shown once, works, and is listed without its token', async () => {
  const made = await admin.post(path, {
    name: hostile,
    role: 'curator',
    expires: '30',
    connectors: 'feed\r\n feed \r\n',
  })
  expect([made.status, made.headers['cache-control'], made.headers.location]).toEqual([201, 'no-store', undefined])
  const token = made.document.getElementById('secret')?.getAttribute('value') ?? ''
  expect(isToken(token)).toBe(true)
  const headers = { authorization: `Bearer ${token}` }
  expect((await visit(started.app, { method: 'GET', url: '/api/v1/queue/candidates', headers })).status).toBe(200)

  const list = await admin.get(path)
  expect(list.body).not.toContain(token)
  const [row = ''] = list.texts('tbody tr')
  expect(row).toContain(`${hostile}as feed curator valid`)
  expect(row).toContain(`by ${hostile}`)
  expect(list.document.querySelector('main script')).toBeNull()

  const revoke = list.document.querySelector('tbody form')?.getAttribute('action') ?? ''
  const answer = await admin.post(revoke)
  expect([answer.status, answer.headers.location]).toEqual([303, '/settings/keys?done=revoked'])
  const after = await admin.get('/settings/keys?done=revoked')
  expect(after.texts('.notice, tbody .badge')).toEqual(['The key is revoked: it is refused from now on.', 'revoked'])
  expect(after.document.querySelector('tbody form')).toBeNull()
  expect((await visit(started.app, { method: 'GET', url: '/api/v1/queue/candidates', headers })).status).toBe(401)
})

test('a reader key may be made for students', async () => {
  const made = await admin.post(path, { name: 'School', role: 'reader', expires: '30', audience: 'student' })
  const authorization = `Bearer ${made.document.getElementById('secret')?.getAttribute('value')}`
  const { body } = await visit(started.app, { method: 'GET', url: '/api/v1/me', headers: { authorization } })
  expect(JSON.parse(body).audiences).toEqual(['tool', 'public', 'student'])
  expect((await admin.get(path)).texts('tbody tr')[0]).toContain('readeralso as student')
  const refused = await admin.post(path, { name: 'Site', role: 'app', expires: '30', audience: 'student' })
  expect([refused.status, refused.texts('form .error').join()]).toEqual([
    400,
    expect.stringMatching(/reader keys only/),
  ])
})

test.each([
  [{ name: '' }, 'name'],
  [{ name: 'x'.repeat(101) }, 'name'],
  [{ role: 'root' }, 'role'],
  [{ expires: '9999' }, 'expires'],
  [{ connectors: 'x'.repeat(101) }, 'connectors'],
])('%o is refused beside its field, and what was typed is kept', async (wrong, field) => {
  const answer = await admin.post(path, { name: 'kept', role: 'reader', expires: '365', connectors: 'one', ...wrong })
  expect(answer.status).toBe(400)
  expect(answer.document.getElementById(`field-${field}-error`)?.textContent).not.toBe('')
  if (field !== 'name') expect(answer.document.querySelector('[name=name]')?.getAttribute('value')).toBe('kept')
  expect(answer.document.querySelector('#secret')).toBeNull()
})

test('keys are for administrators, and each tenant has its own', async () => {
  for (const role of ['reader', 'curator'] as const) {
    const other = await started.browser(role)
    for (const page of [
      await other.get('/settings'),
      await other.get(path),
      await other.post(path, { name: 'x', role: 'curator', expires: 'never' }),
    ]) {
      expect(page.status).toBe(403)
    }
  }
  const [key] = await started.ctx.apiKeys.list()
  const stranger = await started.browser('admin', { tenant: 'umbrella', email: 'eve@example.com' })
  expect((await stranger.get(path)).texts('.empty')).toEqual(['There are no keys yet.'])
  expect((await stranger.post(`${path}/${key?.id}/revoke`)).status).toBe(404)
  expect((await stranger.post(`${path}/x/revoke`)).status).toBe(404)
  const overview = await admin.get('/settings')
  expect(overview.texts('.cards strong')).toEqual(['API keys', 'People', 'Audit', 'Webhooks', 'Forges', 'Health'])
})

test('wrong limits are named in words, and stand open in the form', async () => {
  const sent = { name: 'agent', role: 'app', expires: '90', pending: '-1', paths: '/x' }
  const answer = await admin.post(path, sent)
  expect(answer.status).toBe(400)
  expect(answer.texts('.problems li')).toEqual([
    'The number of waiting candidates must be at least 0.',
    'The folder or page must be a path below neurons/, such as guides/vip.',
  ])
  expect(answer.body).toContain('<details class="field" open>')
})
