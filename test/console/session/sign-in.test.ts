import { afterAll, beforeAll, expect, test } from 'vitest'
import { nextPath } from '../../../src/console/session/next-path.ts'
import { hashPassword } from '../../../src/people/password.ts'
import { type Console, startConsole, visit } from '../support.ts'

const password = 'kolibri tanzt leise'
const own = { 'sec-fetch-site': 'same-origin', accept: 'text/html' }
let console: Console

beforeAll(async () => {
  console = await startConsole()
  const { tenantId } = console
  const { users, now } = console.ctx
  for (const email of ['ada@example.com', 'bob@example.com']) {
    const user = await users.create({ email, name: 'Ada', passwordHash: await hashPassword(password) }, now())
    if (user !== undefined) await users.setRole(user.id, tenantId, 'curator')
  }
})
afterAll(() => console.close())

const get = (url: string, headers: Record<string, string> = {}) =>
  visit(console.app, { method: 'GET', url, headers: { accept: 'text/html', ...headers } })

function post(url: string, fields: Record<string, string>, headers: Record<string, string> = own) {
  const type = { 'content-type': 'application/x-www-form-urlencoded' }
  const payload = new URLSearchParams(fields).toString()
  return visit(console.app, { method: 'POST', url, headers: { ...type, ...headers }, payload })
}

function cookieOf({ headers }: { headers: Record<string, unknown> }): string {
  return /^ganglion=[^;]*/.exec(String([headers['set-cookie']].flat()[0]))?.[0] ?? ''
}

test('a person is led to the sign-in page, signs in, arrives where they wanted to go, and signs out', async () => {
  const asked = await get('/account')
  expect([asked.status, asked.headers.location]).toEqual([302, '/sign-in?next=%2Faccount'])
  const page = await get(String(asked.headers.location))
  expect([page.status, ...page.texts('h1, label, button')]).toEqual([200, 'Sign in', 'E-mail', 'Password', 'Sign in'])
  expect(page.headers['cache-control']).toBe('no-store')
  const next = page.document.querySelector('input[name=next]')?.getAttribute('value') ?? ''

  const answer = await post('/sign-in', { email: 'ada@example.com', password, next })
  expect([answer.status, answer.headers.location]).toEqual([303, '/account'])
  expect(answer.headers['set-cookie']).toEqual([
    expect.stringMatching(/^ganglion=[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax$/),
    expect.stringMatching(/^ganglion-device=[\w.-]+; Max-Age=15552000; Path=\/; HttpOnly; SameSite=Lax$/),
  ])
  const cookie = cookieOf(answer)
  const account = await get('/account', { cookie })
  expect(account.texts('h1, .account bdi')).toEqual(['Ada', 'Your account'])
  expect(account.headers['cache-control']).toBe('no-store')
  expect((await get('/sign-in?next=%2Fqueue', { cookie })).headers.location).toBe('/queue')

  const _csrf = account.document.querySelector('form[action="/sign-out"] input')?.getAttribute('value') ?? ''
  const out = await post('/sign-out', { _csrf }, { ...own, cookie })
  expect([out.status, out.headers.location, cookieOf(out)]).toEqual([303, '/sign-in?done=out', 'ganglion='])
  expect((await get('/sign-in?done=out')).texts('.notice')).toEqual(['You are signed out.'])
  expect((await get('/account', { cookie })).status).toBe(302)
})

test('a session is never the one that a browser brought: who plants a cookie gains nothing', async () => {
  const planted = 'x'.repeat(43)
  const answer = await post(
    '/sign-in',
    { email: 'ada@example.com', password },
    { ...own, cookie: `ganglion=${planted}` },
  )
  expect(cookieOf(answer)).not.toBe(`ganglion=${planted}`)
  expect((await get('/account', { cookie: `ganglion=${planted}` })).status).toBe(302)

  const first = cookieOf(answer)
  const second = cookieOf(await post('/sign-in', { email: 'bob@example.com', password }, { ...own, cookie: first }))
  expect(second).not.toBe(first)
  expect((await get('/account', { cookie: first })).status).toBe(302)
  expect((await get('/account', { cookie: second })).body).toContain('bob@example.com')
})

test('what is refused keeps the e-mail, not the password, and says the same of everybody', async () => {
  const hostile = '"><script>alert(1)</script>'
  for (const email of ['bob@example.com', 'nobody@example.com', hostile]) {
    const page = await post('/sign-in', { email, password: 'wrong', next: '/queue?a="' })
    expect([page.status, ...page.texts('.problems li')]).toEqual([401, 'The e-mail or the password is wrong.'])
    const values = [...page.document.querySelectorAll('form input')].map((input) => input.getAttribute('value'))
    expect(values).toEqual(['', '/queue?a=%22', email, ''])
    expect(page.document.querySelector('main script')).toBeNull()
    expect(page.headers['set-cookie']).toBeUndefined()
  }
  expect((await post('/sign-in', { email: 'bob@example.com', password })).status).toBe(303)
})

test('a form of another site signs nobody in', async () => {
  const fields = { email: 'ada@example.com', password }
  for (const headers of [
    {},
    { 'sec-fetch-site': 'cross-site' },
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { ...own, origin: 'https://evil.example' },
  ]) {
    const answer = await post('/sign-in', fields, { accept: 'text/html', ...headers })
    expect([answer.status, answer.headers['set-cookie']]).toEqual([403, undefined])
  }
})

test('too many failures are told kindly, with how long to wait', async () => {
  const wrong = { email: 'kim@example.com', password: 'wrong' }
  for (let failure = 0; failure < 5; failure++) await post('/sign-in', wrong)
  const page = await post('/sign-in', wrong)
  expect([page.status, ...page.texts('.problems li')]).toEqual([
    429,
    'Too many failures to sign in. Try again in 15 minutes.',
  ])
  expect(Number(page.headers['retry-after'])).toBeGreaterThan(0)
})

test('a person who is signed in nowhere is sent only to paths of this server', () => {
  const paths: [string | undefined, string][] = [
    [undefined, '/'],
    ['', '/'],
    ['/queue?zone=red#top', '/queue?zone=red#top'],
    ['/kb/handbook/neurons/Größe', '/kb/handbook/neurons/Gr%C3%B6%C3%9Fe'],
    ['//evil.example', '/'],
    ['/\\evil.example', '/'],
    ['/\t/evil.example', '/'],
    ['/.//evil.example', '/'],
    ['/%2F/../..//evil.example', '/'],
    ['https://evil.example', '/'],
    ['javascript:alert(1)', '/'],
    ['queue', '/'],
    ['/sign-in?next=/sign-in', '/'],
    ['/\r\nset-cookie: a=b', '/set-cookie:%20a=b'],
  ]
  for (const [asked, path] of paths) expect([asked, nextPath(asked)]).toEqual([asked, path])
})
