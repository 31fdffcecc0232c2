import { afterAll, beforeAll, expect, test } from 'vitest'
import { stopUrlOf } from '../../../src/events/notices/stop-link.ts'
import { type Console, fieldsOf, startConsole, visit } from '../support.ts'

let console: Console
beforeAll(async () => {
  console = await startConsole()
})
afterAll(() => console.close())

test('a person chooses when they get mails, and reads that the server sends nothing', async () => {
  const browser = await console.browser('curator', { email: 'mails@example.com' })
  const page = await browser.get('/account')
  expect(page.texts('#mails ~ .hint')).toEqual([
    'This server sends no mails: its operator has not set GANGLION_SMTP_URL.',
  ])
  expect(fieldsOf(page).notices).toBe('at-once')
  const saved = await browser.post('/account/notices', { notices: 'digest' })
  expect([saved.status, saved.headers.location]).toEqual([303, '/account?done=notices'])
  expect(fieldsOf(await browser.get('/account')).notices).toBe('digest')
  expect((await browser.post('/account/notices', { notices: 'never' })).status).toBe(400)
})

test('a link stops mails without signing in: not by a look at it, nor with another signature', async () => {
  const { userId } = await console.browser('curator', { email: 'stopped@example.com' })
  const mode = async () => (await console.ctx.users.get(userId))?.notices
  const url = await stopUrlOf(console.ctx, userId)
  const other = await console.browser('curator', { email: 'kept@example.com' })
  const foreign = (await stopUrlOf(console.ctx, other.userId)).replace(other.userId, userId)
  const page = await visit(console.app, { method: 'GET', url, headers: { accept: 'text/html' } })
  expect([page.status, page.texts('main form[method=post] button')]).toEqual([200, ['Stop all mails to me']])
  for (const method of ['GET', 'POST'] as const) {
    const refused = await visit(console.app, { method, url: foreign, headers: { accept: 'text/html' } })
    expect([refused.status, await mode()]).toEqual([410, 'at-once'])
    expect(refused.body).toContain('Choose “No mails” in your account')
  }
  // As a mail program sends it: in either form, from anywhere, without a cookie.
  const body = '--x\r\ncontent-disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--x--\r\n'
  for (const [type, payload] of [
    ['application/x-www-form-urlencoded', 'List-Unsubscribe=One-Click'],
    ['multipart/form-data; boundary=x', body],
  ] as const) {
    await console.ctx.users.setNotices(userId, 'digest')
    const stopped = await visit(console.app, { method: 'POST', url, headers: { 'content-type': type }, payload })
    expect([stopped.status, stopped.texts('h1'), await mode()]).toEqual([200, ['Stopped'], 'off'])
  }
})
