import { afterAll, beforeAll, expect, test } from 'vitest'
import { browserName } from '../../../src/console/session/account-page.ts'
import { openSession } from '../../../src/people/person-session.ts'
import { signIn } from '../../support/person.ts'
import { type Console, startConsole } from '../support.ts'

let console: Console
beforeAll(async () => {
  console = await startConsole()
})
afterAll(() => console.close())

test('a person changes their name, which is what is shown from then on', async () => {
  const browser = await console.browser('reader', { email: 'reader@example.com' })
  const saved = await browser.post('/account/name', { name: '  Ada   Lovelace ' })
  expect([saved.status, saved.headers.location]).toEqual([303, '/account?done=name'])
  const page = await browser.get('/account?done=name')
  expect(page.texts('.account bdi, .notice')).toEqual(['Ada Lovelace', 'Your name is saved.'])
  for (const name of ['', 'x'.repeat(101), 'Eve <user:1>', 'a\nApproved-By: root', '\u202eevil']) {
    const refused = await browser.post('/account/name', { name })
    expect([refused.status, refused.texts('.field .error').length]).toEqual([400, 1])
    expect(refused.texts('.account bdi')).toEqual(['Ada Lovelace'])
  }
  expect((await browser.get('/account?done=<script>')).texts('.notice')).toEqual([])
})

test('a person keeps filters, which stand in the rail of every page for them alone', async () => {
  const browser = await console.browser('curator', { email: 'filters@example.com' })
  const saved = async (name: string, path: string) => {
    const answer = await browser.post('/account/filters', { name, path })
    return [answer.status, answer.headers.location]
  }
  const red = '/queue?kb=handbook&zone=red'
  const searched = '/kb/handbook/search?q=vip+escalation'
  expect((await browser.get(red)).texts('form[action="/account/filters"] input[name=name]')).toHaveLength(1)
  expect((await browser.get('/queue')).body).not.toContain('Save filter')
  expect(await saved(' <b>Red</b> ', red)).toEqual([303, red])
  expect(await saved('VIP', searched)).toEqual([303, searched])
  for (const path of [red, '/kb/handbook/tree']) {
    const shown = await browser.get(path)
    expect(shown.texts('nav[aria-label="Saved filters"] a')).toEqual(['<b>Red</b>', 'VIP'])
    expect(shown.document.querySelector('.rail b, main b')).toBeNull()
  }
  expect((await browser.get(searched)).texts('.rail a[aria-current]')).toEqual(['VIP'])
  expect((await browser.get(searched)).texts('main .chip.active')).toEqual(['Remove the saved filter VIP'])
  const other = await console.browser('curator', { email: 'unfiltered@example.com' })
  expect((await other.get(red)).texts('nav[aria-label="Saved filters"] a')).toEqual([])

  await saved('VIP', '/activity?kind=pages')
  await browser.post('/account/filters/remove', { path: red })
  const [left] = [...(await browser.get('/')).document.querySelectorAll('nav[aria-label="Saved filters"] a')]
  expect([left?.textContent.trim(), left?.getAttribute('href')]).toEqual(['VIP', '/activity?kind=pages'])
  for (const path of ['https://evil.example', '//evil.example/queue?a', '/queue', '/sign-out?x', '/queue?a\nb'])
    expect((await saved('x', path))[0]).toBe(400)
  for (let at = 0; at < 29; at++) await saved(`${at}`, `/queue?text=${at}`)
  expect((await saved('one more', '/queue?text=more'))[0]).toBe(400)
})

test('a person ends all other sessions at once', async () => {
  const browser = await console.browser('curator', { email: 'many@example.com' })
  expect((await browser.get('/account')).body).not.toContain('End all other sessions')
  const other = await signIn(console.ctx, 'acme', 'curator', { email: 'many@example.com' })
  expect((await browser.get('/account')).body).toContain('End all other sessions')
  const ended = await browser.post('/account/sessions/end-others', {})
  expect([ended.status, ended.headers.location]).toEqual([303, '/account?done=sessions'])
  expect(await openSession(console.ctx, other.token)).toBeUndefined()
})

test('a person sets a password, and changes it with the old one', async () => {
  const browser = await console.browser('curator', { email: 'pass@example.com' })
  const before = await browser.get('/account')
  expect(before.document.querySelector('input[name=current]')).toBeNull()
  const other = await signIn(console.ctx, 'acme', 'curator', { email: 'pass@example.com' })
  const set = await browser.post('/account/password', { password: 'kolibri tanzt leise' })
  expect([set.status, set.headers.location]).toEqual([303, '/account?done=password'])
  expect(String(set.headers['set-cookie']), 'the proof of before has ended').toContain('ganglion-device=')
  expect(await openSession(console.ctx, other.token)).toBeUndefined()
  const cookie = /^ganglion=[^;]*/.exec(String(set.headers['set-cookie']))?.[0] ?? ''
  expect((await browser.get('/account')).status).toBe(302)
  const page = await browser.get('/account', { cookie })
  expect(page.document.querySelector('input[name=current]')).not.toBeNull()
  const wrong = await browser.post('/account/password', { current: 'x', password: 'purple-otter-sings-42' }, { cookie })
  expect([wrong.status, ...wrong.texts('.field .error')]).toEqual([400, 'is wrong'])
  const easy = await browser.post('/account/password', { current: 'x', password: 'password1234' }, { cookie })
  expect(easy.texts('.field .error')).toEqual(['is easy to guess; three or four unrelated words are not'])
  expect(easy.body).not.toContain('password1234')
})

test('who looked around first says later what their e-mail is, and nobody else does', async () => {
  const browser = await console.browser('admin', { email: 'admin@localhost' })
  const form = { email: 'Real@Example.com', password: 'kolibri tanzt leise' }
  const taken = await browser.post('/account/password', { ...form, email: 'reader@example.com' })
  expect([taken.status, ...taken.texts('.field .error')]).toEqual([400, 'belongs to somebody already'])
  expect(taken.document.querySelector('#field-email')?.getAttribute('value')).toBe('reader@example.com')
  const set = await browser.post('/account/password', form)
  const cookie = /^ganglion=[^;]*/.exec(String(set.headers['set-cookie']))?.[0] ?? ''
  expect((await browser.get('/account', { cookie })).texts('main strong')[0]).toBe('real@example.com')
  const again = await browser.post(
    '/account/password',
    { email: 'boss@example.com', current: form.password, password: 'purple-otter-sings-42' },
    { cookie },
  )
  const next = /^ganglion=[^;]*/.exec(String(again.headers['set-cookie']))?.[0] ?? ''
  expect((await browser.get('/account', { cookie: next })).texts('main strong')[0]).toBe('real@example.com')
})

test('a person works in another of their tenants', async () => {
  const browser = await console.browser('admin', { email: 'both@example.com' })
  const there = await signIn(console.ctx, 'umbrella', 'reader', { email: 'both@example.com' })
  const page = await browser.get('/account')
  expect(page.texts('table:first-of-type tbody td, td button').slice(0, 5)).toEqual([
    ...['admin', 'You are here', 'reader', 'Work in umbrella', 'Work in umbrella'],
  ])
  const tenant = page.document.querySelector('input[name=tenant]')?.getAttribute('value') ?? ''
  const changed = await browser.post('/account/tenant', { tenant })
  expect([changed.status, changed.headers.location]).toEqual([303, '/account?done=tenant'])
  const cookie = /^ganglion=[^;]*/.exec(String(changed.headers['set-cookie']))?.[0] ?? ''
  const moved = await browser.get('/account', { cookie })
  expect(moved.texts('.foot span')).toEqual(['umbrella'])
  expect((await browser.get('/settings/people', { cookie })).status).toBe(403)
  expect(there.userId).toBe(browser.userId)
  const foreign = (await console.ctx.tenants.ensure('globex', new Date())).id
  expect((await browser.post('/account/tenant', { tenant: foreign }, { cookie })).status).toBe(404)
})

test('a person sees where they are signed in, and ends a session', async () => {
  const browser = await console.browser('reader', { email: 'two@example.com' })
  const lost = await signIn(console.ctx, 'acme', 'reader', { email: 'two@example.com' })
  const page = await browser.get('/account')
  const [action] = [...page.document.querySelectorAll('form[action$="/end"]')].map((form) =>
    form.getAttribute('action'),
  )
  const ended = await browser.post(action ?? '')
  expect([ended.status, ended.headers.location]).toEqual([303, '/account?done=session'])
  expect(await openSession(console.ctx, lost.token)).toBeUndefined()
  expect((await browser.get('/account')).status).toBe(200)
})

test('a browser is called what people call it', () => {
  const chrome = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36'
  const safari = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605 Version/18 Mobile Safari/604'
  expect([chrome, `${chrome} Edg/141`, safari, 'curl/8', '<script>'].map(browserName)).toEqual([
    'Chrome on Linux',
    'Edge on Linux',
    'Safari on iOS',
    'A browser',
    'A browser',
  ])
})
