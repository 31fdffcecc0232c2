import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { openSession } from '../../../src/people/person-session.ts'
import { type Account, startProvider, type TestProvider } from '../../support/identity-provider.ts'
import { signIn as signInPerson } from '../../support/person.ts'
import { type Console, type Page, startConsole, visit } from '../support.ts'

const ada: Account = {
  email: 'Ada@example.com',
  email_verified: true,
  name: 'Ada Lovelace',
  groups: ['staff', 'chess'],
}
const entraTenant = '72f988bf-86f1-41af-91ab-2d7cd011db47'
const notVouched = [401, 'Single sign-on does not say that your e-mail is verified.']
let provider: TestProvider
let console: Console

beforeAll(async () => {
  provider = await startProvider('http://localhost/sign-in/oidc/callback')
  console = await startConsole({
    identityProvider: {
      issuer: provider.issuer,
      clientId: 'ganglion',
      clientSecret: 'secret',
      roles: new Map([
        ['admins', 'admin'],
        ['staff', 'curator'],
        ['guests', 'reader'],
      ]),
      groupsClaim: 'groups',
      scope: 'openid email profile',
      tenant: 'acme',
      trustedTenant: entraTenant,
    },
  })
})
afterAll(async () => {
  await console.close()
  await provider.close()
})
beforeEach(() => {
  provider.accounts.clear()
  provider.forges = false
})

const get = (url: string, headers: Record<string, string> = {}) =>
  visit(console.app, { method: 'GET', url, headers: { accept: 'text/html', ...headers } })

function cookies({ headers }: Page): Map<string, string> {
  const set = [headers['set-cookie'] ?? []].flat().map(String)
  return new Map(set.map((text) => [text.slice(0, text.indexOf('=')), text.slice(0, text.indexOf(';'))]))
}

/** Returns the browser's cookie, and the URL that it is sent to. */
async function begin(next = '/'): Promise<{ cookie: string; url: string }> {
  const page = await get(`/sign-in/oidc?next=${encodeURIComponent(next)}`)
  expect(page.status).toBe(303)
  return { cookie: cookies(page).get('ganglion-sign-in') ?? '', url: String(page.headers.location) }
}

async function comeBack(url: string, cookie: string): Promise<Page> {
  const { pathname, search } = new URL(url)
  return get(pathname + search, { cookie })
}

async function signIn(login: string, next?: string): Promise<Page> {
  const { cookie, url } = await begin(next)
  return comeBack(await provider.signIn(url, login), cookie)
}

async function sessionOf(page: Page) {
  const token = cookies(page).get('ganglion')?.slice('ganglion='.length) ?? ''
  return (await openSession(console.ctx, token))?.session
}

test('a person of a group comes in with its role, and goes where they wanted to', async () => {
  expect((await get('/sign-in?next=%2Fqueue')).document.querySelector('a.button')?.getAttribute('href')).toBe(
    '/sign-in/oidc?next=%2Fqueue',
  )
  provider.accounts.set('ada', ada)
  const page = await signIn('ada', '/queue?zone=red')
  expect([page.status, page.headers.location]).toEqual([303, '/queue?zone=red'])
  expect(await sessionOf(page)).toMatchObject({
    user: { email: 'ada@example.com', name: 'Ada Lovelace' },
    tenant: { slug: 'acme' },
    role: 'curator',
  })
  const [latest] = await console.ctx.audit.list(console.tenantId, { limit: 1 })
  expect(latest).toMatchObject({ action: 'user.signed-in', detail: 'by single sign-on' })
})

test('the way there has PKCE, a state and a nonce of its own', async () => {
  const [first, second] = [new URL((await begin()).url), new URL((await begin()).url)]
  expect(Object.fromEntries(first.searchParams)).toMatchObject({
    response_type: 'code',
    client_id: 'ganglion',
    redirect_uri: 'http://localhost/sign-in/oidc/callback',
    scope: 'openid email profile',
    code_challenge_method: 'S256',
  })
  for (const name of ['state', 'nonce', 'code_challenge']) {
    expect(first.searchParams.get(name)).toMatch(/^[\w-]{43}$/)
    expect(first.searchParams.get(name)).not.toBe(second.searchParams.get(name))
  }
})

test('a person stays the same under a new e-mail, and follows their groups: up, down and out', async () => {
  provider.accounts.set('bob', { ...ada, email: 'bob@example.com', name: 'Bob', groups: ['guests'] })
  const first = await sessionOf(await signIn('bob'))
  expect(first).toMatchObject({ role: 'reader', user: { email: 'bob@example.com' } })
  provider.accounts.set('bob', { ...ada, email: 'robert@example.com', groups: ['guests', 'admins', 'staff'] })
  expect(await sessionOf(await signIn('bob'))).toMatchObject({ role: 'admin', user: first?.user })
  provider.accounts.set('bob', { ...ada, groups: ['staff'] })
  const elsewhere = await signIn('bob')
  expect(await sessionOf(elsewhere)).toMatchObject({ role: 'curator' })
  provider.accounts.set('bob', { ...ada, groups: [] })
  const out = await signIn('bob')
  expect([out.status, ...out.texts('.problems li')]).toEqual([
    403,
    'You have no role here. Ask an administrator for one.',
  ])
  expect(await sessionOf(out)).toBeUndefined()
  expect(await sessionOf(elsewhere)).toBeUndefined()
})

test('who is in no group that counts comes not in, and is not made a user', async () => {
  provider.accounts.set('eve', { ...ada, email: 'eve@example.com', groups: ['chess'] })
  expect((await signIn('eve')).status).toBe(403)
  provider.accounts.set('eve', { email: 'eve@example.com', email_verified: true })
  expect((await signIn('eve')).status).toBe(403)
  expect(await console.ctx.users.findByEmail('eve@example.com')).toBeUndefined()
})

test('a user who was there is taken over by a verified e-mail, once', async () => {
  const user = (email: string) => console.ctx.users.create({ email, name: 'Kim', passwordHash: null }, new Date())
  const kim = await user('kim@example.com')
  await console.ctx.users.setPassword(kim?.id ?? '', 'of whoever was invited')
  const { token } = await signInPerson(console.ctx, 'umbrella', 'reader', { email: 'kim@example.com' })
  provider.accounts.set('kim', { ...ada, email: 'KIM@example.com' })
  expect(await sessionOf(await signIn('kim'))).toMatchObject({ user: { id: kim?.id, name: 'Kim' } })
  expect(await console.ctx.users.get(kim?.id ?? '')).toMatchObject({ passwordHash: null, isLinked: true })
  expect(await openSession(console.ctx, token)).toBeUndefined()
  await console.ctx.users.setPassword(kim?.id ?? '', 'of her own')
  expect(cookies(await signIn('kim')).has('ganglion-device')).toBe(true)
  provider.accounts.set('impostor', { ...ada, email: 'kim@example.com' })
  const page = await signIn('impostor')
  expect([page.status, ...page.texts('.problems li')]).toEqual([401, 'Your e-mail belongs to another account here.'])
  expect(await sessionOf(page)).toBeUndefined()
})

test('an e-mail that the provider does not vouch for is nobody', async () => {
  await console.ctx.users.create({ email: 'lea@example.com', name: 'Lea', passwordHash: null }, new Date())
  for (const email_verified of [false, undefined]) {
    const { email_verified: _, ...rest } = ada
    provider.accounts.set('lea', {
      ...rest,
      email: 'lea@example.com',
      ...(email_verified === false && { email_verified }),
    })
    const page = await signIn('lea')
    expect([page.status, ...page.texts('.problems li')]).toEqual(notVouched)
  }
  expect((await console.ctx.users.findByEmail('lea@example.com'))?.isLinked).toBe(false)
})

test('an e-mail counts as verified only by the answer that names it', async () => {
  const victim = await console.ctx.users.create(
    { email: 'victim@example.com', name: 'V', passwordHash: null },
    new Date(),
  )
  const [mine, theirs] = [{ email: 'mine@example.com' }, { email: 'victim@example.com' }]
  for (const [login, account] of Object.entries({
    'token-names': { ...ada, ...mine, idToken: { ...theirs, email_verified: undefined } },
    'userinfo-names': { ...ada, ...theirs, email_verified: false, idToken: { ...mine, email_verified: true } },
  })) {
    provider.accounts.set(login, account)
    await signIn(login)
    expect(await console.ctx.users.get(victim?.id ?? '')).toMatchObject({ isLinked: false })
  }
  expect(await console.ctx.users.findByEmail('mine@example.com')).toMatchObject({ isLinked: true })
  const { email: _, ...unnamed } = ada
  provider.accounts.set('halves', { ...unnamed, idToken: { ...theirs, email_verified: undefined } })
  const page = await signIn('halves')
  expect([page.status, ...page.texts('.problems li')]).toEqual(notVouched)
})

test('an ID token that another key has signed does not hold', async () => {
  provider.accounts.set('ada', ada)
  provider.forges = true
  const page = await signIn('ada')
  expect([page.status, ...page.texts('.problems li')]).toEqual([
    401,
    'Single sign-on gave an answer that does not hold. Try again.',
  ])
  expect(await sessionOf(page)).toBeUndefined()
})

test('an e-mail of the trusted tenant of Entra ID counts where nothing says whether it is verified', async () => {
  const { email_verified: _, ...silent } = ada
  provider.accounts.set('guest', { ...silent, email: 'ent@example.com', tid: '00000000-0000-0000-0000-000000000000' })
  provider.accounts.set('doubted', { ...ada, email: 'ent@example.com', email_verified: false, tid: entraTenant })
  for (const login of ['guest', 'doubted']) {
    const page = await signIn(login)
    expect([page.status, ...page.texts('.problems li')]).toEqual(notVouched)
  }
  provider.accounts.set('ent', { ...silent, email: 'ent@example.com', tid: entraTenant })
  expect(await sessionOf(await signIn('ent'))).toMatchObject({ user: { email: 'ent@example.com' }, role: 'curator' })
})

test('a person with more groups than the provider lists keeps the role, and somebody new gets none', async () => {
  const email = { email: 'many@example.com' }
  const { groups: _, ...silent } = ada
  const many = { ...silent, ...email, _claim_names: { groups: 'src1' }, _claim_sources: { src1: {} } }
  provider.accounts.set('many', many)
  expect((await signIn('many')).status).toBe(403)
  provider.accounts.set('many', { ...ada, ...email, groups: ['admins'] })
  await signIn('many')
  provider.accounts.set('many', many)
  expect(await sessionOf(await signIn('many'))).toMatchObject({ role: 'admin' })
  provider.accounts.set('many', { ...ada, ...email, groups: [] })
  expect((await signIn('many')).status).toBe(403)
})

test('who is disabled here comes not in', async () => {
  provider.accounts.set('max', { ...ada, email: 'max@example.com' })
  const session = await sessionOf(await signIn('max'))
  await console.ctx.users.setDisabled(session?.user.id ?? '', new Date())
  const page = await signIn('max')
  expect([page.status, ...page.texts('.problems li')]).toEqual([401, 'Your account is disabled.'])
})

test('who turns back there is told so here, and may try again', async () => {
  const { cookie, url } = await begin('/queue')
  const page = await comeBack(await provider.cancel(url), cookie)
  expect([page.status, ...page.texts('.problems li')]).toEqual([401, 'You did not finish signing in there.'])
  expect(page.document.querySelector('a.button')?.getAttribute('href')).toBe('/sign-in/oidc?next=%2Fqueue')
})

test('an answer counts once, in the browser that asked', async () => {
  provider.accounts.set('ada', ada)
  const [mine, other] = [await begin(), await begin()]
  const callback = await provider.signIn(mine.url, 'ada')
  const refused = [
    ['This browser did not begin to sign in, or took too long. Try again.', callback, ''],
    ['This browser did not begin to sign in, or took too long. Try again.', callback, 'ganglion-sign-in={"state":1}'],
    ['Single sign-on gave an answer that does not hold. Try again.', callback, other.cookie],
  ] as const
  for (const [message, url, cookie] of refused) {
    const page = await comeBack(url, cookie)
    expect([page.status, ...page.texts('.problems li')]).toEqual([401, message])
    expect(await sessionOf(page)).toBeUndefined()
  }
  const entered = await comeBack(callback, mine.cookie)
  expect([entered.status, cookies(entered).get('ganglion-sign-in')]).toEqual([303, 'ganglion-sign-in='])
  const replayed = await comeBack(callback, mine.cookie)
  expect([replayed.status, await sessionOf(replayed)]).toEqual([401, undefined])
})

test('an answer with another state, code or issuer does not hold', async () => {
  provider.accounts.set('ada', ada)
  for (const [name, value] of [
    ['state', 'x'.repeat(43)],
    ['code', 'x'.repeat(43)],
    ['iss', 'https://evil.example'],
  ] as const) {
    const { cookie, url } = await begin()
    const callback = new URL(await provider.signIn(url, 'ada'))
    callback.searchParams.set(name, value)
    const page = await comeBack(callback.href, cookie)
    expect([name, page.status, await sessionOf(page)]).toEqual([name, 401, undefined])
  }
})

test('next leads nowhere else', async () => {
  provider.accounts.set('ada', ada)
  expect((await signIn('ada', '//evil.example')).headers.location).toBe('/')
})

test('a provider that is gone stops neither the server nor passwords', async () => {
  const gone = await startProvider('http://localhost/sign-in/oidc/callback')
  await gone.close()
  const { close, app } = await startConsole({
    identityProvider: {
      issuer: gone.issuer,
      clientId: 'ganglion',
      clientSecret: 'secret',
      roles: new Map(),
      groupsClaim: 'groups',
      scope: 'openid',
      tenant: 'acme',
    },
  })
  try {
    const page = await visit(app, { method: 'GET', url: '/sign-in/oidc', headers: { accept: 'text/html' } })
    expect([page.status, ...page.texts('.problems li')]).toEqual([
      503,
      'The single sign-on provider cannot be reached. Try again later, or sign in with a password.',
    ])
    expect(page.texts('label')).toEqual(['E-mail', 'Password'])
  } finally {
    await close()
  }
})
