import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeSetUpLink } from '../../../src/people/follow-links.ts'
import { type Console, startConsole, visit } from '../support.ts'

const own = {
  'sec-fetch-site': 'same-origin',
  accept: 'text/html',
  'content-type': 'application/x-www-form-urlencoded',
}
let console: Console

beforeAll(async () => {
  console = await startConsole()
})
afterAll(() => console.close())

const get = (url: string, headers: Record<string, string> = {}) =>
  visit(console.app, { method: 'GET', url, headers: { accept: 'text/html', ...headers } })
const post = (fields: Record<string, string>, headers: Record<string, string> = own) =>
  visit(console.app, { method: 'POST', url: '/set-up', headers, payload: new URLSearchParams(fields).toString() })

function cookieOf({ headers }: { headers: Record<string, unknown> }): string {
  return /^ganglion=[^;]*/.exec(String([headers['set-cookie']].flat()[0]))?.[0] ?? ''
}

test('the link of the first start makes an administrator: looked around first, a password later', async () => {
  const link = (await makeSetUpLink(console.ctx)) ?? ''
  for (let opened = 0; opened < 3; opened++) {
    const page = await get(`/set-up?link=${link}`)
    expect([page.status, ...page.texts('h1, button')]).toEqual([
      200,
      'Welcome to Ganglion',
      'Make my account',
      'Look around first',
    ])
    expect(page.headers['set-cookie']).toBeUndefined()
  }
  const hostile = '"><img src=x onerror=alert(1)>'
  const refused = await post({ link, email: hostile, name: hostile, password: 'short' })
  expect([refused.status, ...refused.texts('.field .error')]).toEqual([
    400,
    'must be an e-mail address',
    'must be one line of 1 to 100 characters, without < and >',
    'must be at least 12 characters',
  ])
  expect(refused.document.querySelector('input[name=email]')?.getAttribute('value')).toBe(hostile)
  expect([refused.document.querySelector('img'), refused.body.includes('short')]).toEqual([null, false])
  expect((await post({ link, later: 'true' }, { ...own, 'sec-fetch-site': 'cross-site' })).status).toBe(403)

  const entered = await post({ link, email: '', name: '', password: '', later: 'true' })
  expect([entered.status, entered.headers.location]).toEqual([303, '/'])
  expect(String(entered.headers['set-cookie']), 'without a password').not.toContain('ganglion-device=')
  const cookie = cookieOf(entered)
  const account = await get('/account', { cookie })
  expect(account.texts('.account bdi, .warning')).toEqual([
    'Administrator',
    expect.stringContaining('You have no password yet.'),
  ])
  for (const again of [await get(`/set-up?link=${link}`), await post({ link, later: 'true' })]) {
    expect([again.status, again.texts('main p')[0]]).toEqual([
      410,
      'The link was already used or has expired. Ask for a new one.',
    ])
  }
  const next = (await makeSetUpLink(console.ctx)) ?? ''
  expect((await get(`/set-up?link=${next}`)).texts('h1, strong')).toEqual(['Choose a password', 'admin@localhost'])
  const chosen = await post({ link: next, password: 'kolibri tanzt leise' })
  expect([chosen.status, chosen.headers.location]).toEqual([303, '/'])
  expect(String(chosen.headers['set-cookie'])).toContain('ganglion-device=')
  expect(await makeSetUpLink(console.ctx)).toBeUndefined()
})

test('what is no link is gone, in the same words', async () => {
  for (const link of ['', 'x', 'x'.repeat(43), '../../etc', '"><script>']) {
    const page = await get(`/set-up?link=${encodeURIComponent(link)}`)
    expect([page.status, ...page.texts('h1')]).toEqual([410, 'That did not work'])
  }
  expect((await get('/set-up')).status).toBe(410)
})
