import { expect, test, vi } from 'vitest'
import { NewPassword } from '../../src/contract/people.ts'
import { hashPassword, isPasswordOf, requireHardPassword } from '../../src/people/password.ts'
import { openSession } from '../../src/people/person-session.ts'
import { proveDevice, provenDevice, rememberDevice, signIn } from '../../src/people/sign-in.ts'
import { SignInThrottle, signInSpan, signIns } from '../../src/people/sign-in-throttle.ts'
import { MemoryCounter } from '../../src/state/rate-counter.ts'
import { client, password, people } from './support.ts'

const email = 'ada@example.com'

test('a person signs in by e-mail, however it is typed, and password', async () => {
  const { ctx, person, audit } = await people()
  const { id } = await person(email)
  const token = await signIn(ctx, { email: '  Ada@EXAMPLE.com ', password }, client)
  expect(token).toMatch(/^[\w-]{43}$/)
  const open = await openSession(ctx, token)
  expect(open?.session).toMatchObject({ user: { id, email, name: 'Ada' }, tenant: { slug: 'acme' }, role: 'curator' })
  expect(open?.caller).toMatchObject({ id: `user:${id}`, role: 'curator', connectors: [] })
  expect(await audit()).toEqual(['user.signed-in ada@example.com with a password'])
})

test('a password is the same however its characters are composed', async () => {
  const composed = 'Ångström über alles'.normalize('NFC')
  const hash = await hashPassword(composed)
  expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/)
  expect(await isPasswordOf(hash, composed.normalize('NFD'))).toBe(true)
  expect(await isPasswordOf(hash, composed.toLowerCase())).toBe(false)
  expect(await isPasswordOf(null, '')).toBe(false)
  expect(await hashPassword(composed)).not.toBe(hash)
})

test('who is unknown, disabled or without a password is refused in the same words', async () => {
  const { ctx, person } = await people()
  await person(email)
  const disabled = await person('bob@example.com')
  await ctx.users.setDisabled(disabled.id, ctx.now())
  await ctx.users.create({ email: 'new@example.com', name: 'New', passwordHash: null }, ctx.now())
  const attempts = [
    { email, password: `${password}!` },
    { email: 'nobody@example.com', password },
    { email: 'not an e-mail', password },
    { email: 'bob@example.com', password },
    { email: 'new@example.com', password: '' },
  ]
  for (const [index, attempt] of attempts.entries()) {
    const from = { ...client, address: `192.0.2.${index}` }
    await expect(signIn(ctx, attempt, from)).rejects.toThrow('The e-mail or the password is wrong.')
  }
})

test('an unknown e-mail takes as long as a known one', async () => {
  const { ctx, person } = await people()
  await person(email)
  const time = async (who: string, address: string) => {
    const begin = performance.now()
    await signIn(ctx, { email: who, password: 'wrong' }, { ...client, address }).catch(() => {})
    return performance.now() - begin
  }
  const pairs: number[] = []
  for (let round = 0; round < 4; round++) {
    const known = await time(email, `192.0.2.${round}`)
    pairs.push((await time(`nobody${round}@example.com`, `198.51.100.${round}`)) / known)
  }
  // A hash costs far more than all else: without one, the ratio would be near 0.
  expect(Math.max(...pairs)).toBeGreaterThan(0.5)
})

test('five failures of a network close an account to it for 15 minutes, known or not, and to nobody else', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] })
  try {
    const { ctx, person } = await people()
    await person(email)
    const stranger = { ...client, address: '203.0.113.7' }
    for (const who of [email, 'nobody@example.com']) {
      for (let failure = 0; failure < 5; failure++) {
        const failed = signIn(ctx, { email: who, password: 'wrong' }, stranger)
        await expect(failed).rejects.toMatchObject({ code: 'sign_in_failed' })
      }
      await expect(signIn(ctx, { email: who, password }, stranger)).rejects.toMatchObject({
        code: 'rate_limited',
        details: { retryAfter: expect.toSatisfy((seconds: number) => seconds > 0 && seconds <= 900) },
      })
    }
    expect(await signIn(ctx, { email, password }, client)).toBeDefined()
    vi.setSystemTime(Date.now() + 15 * 60_000 + 1)
    expect(await signIn(ctx, { email, password }, stranger)).toBeDefined()
  } finally {
    vi.useRealTimers()
  }
})

test('guesses of many networks at an account are bounded, and a device that signed in before passes', async () => {
  const { ctx, person } = await people()
  await person(email)
  const device = await rememberDevice(ctx, await signIn(ctx, { email, password }, client))
  for (let guess = 0; guess < 100; guess++) {
    await signIns(ctx).attempt({ account: email, address: `198.51.100.${guess}` })
  }
  const signInWith = (proof: string | undefined, word = password) =>
    signIn(ctx, { email, password: word }, { ...client, device: proof })
  await expect(signInWith(undefined)).rejects.toMatchObject({ code: 'rate_limited' })
  await expect(signInWith(device?.replace(/.$/, (end) => (end === 'A' ? 'E' : 'A')))).rejects.toMatchObject({
    code: 'rate_limited',
  })
  expect(await signInWith(device)).toBeDefined()
  for (let guess = 0; guess < 5; guess++)
    await expect(signInWith(device, 'wrong')).rejects.toMatchObject({ code: 'sign_in_failed' })
  await expect(signInWith(device)).rejects.toMatchObject({ code: 'rate_limited' })
})

test('a device is remembered for its user alone, until it is old or the password changes', () => {
  const now = new Date('2026-01-01')
  const user = { id: '1', passwordHash: 'a' }
  const proof = proveDevice(user, now)
  expect(provenDevice(user, proof, now)).toBe(proof?.slice(0, 43))
  expect(provenDevice({ ...user, id: '2' }, proof, now)).toBeUndefined()
  expect(provenDevice({ ...user, passwordHash: 'b' }, proof, now)).toBeUndefined()
  expect(provenDevice(user, proof, new Date('2026-07-01'))).toBeUndefined()
})

test('20 failures from an address, or from one network of IPv6, close it to all accounts', async () => {
  const { ctx, person } = await people()
  await person(email)
  for (const addressOf of [
    (n: number) => (n % 2 === 0 ? '203.0.113.9' : '::ffff:203.0.113.9'),
    (n: number) => `2001:db8::${n + 1}`,
  ]) {
    for (let n = 0; n < 20; n++) await signIns(ctx).attempt({ account: `somebody${n}`, address: addressOf(n) })
    const closed = signIn(ctx, { email, password }, { ...client, address: addressOf(21) })
    await expect(closed).rejects.toMatchObject({ code: 'rate_limited' })
  }
  expect(await signIn(ctx, { email, password }, { ...client, address: '2001:db8:0:1::1' })).toBeDefined()
})

test('who signs in well is not counted, however often', async () => {
  const { ctx, person } = await people()
  await person(email)
  for (let time = 0; time < 7; time++) expect(await signIn(ctx, { email, password }, client)).toBeDefined()
})

test('guesses at once are no more than guesses one after the other', async () => {
  const { ctx, person } = await people()
  await person(email)
  const codes = await Promise.all(
    Array.from({ length: 8 }, () =>
      signIn(ctx, { email, password: 'wrong' }, client).catch(({ code }): string => code),
    ),
  )
  expect(codes.filter((code) => code === 'sign_in_failed')).toHaveLength(5)
  expect(codes.filter((code) => code === 'rate_limited')).toHaveLength(3)
})

test('a flood of attempts is told to come back, and takes no memory', async () => {
  const { ctx } = await people()
  const codes = await Promise.all(
    Array.from({ length: 60 }, (_, index) =>
      signIn(ctx, { email: `a${index}@example.com`, password }, { ...client, address: `192.0.2.${index}` }).catch(
        ({ code }): string => code,
      ),
    ),
  )
  expect(codes.filter((code) => code === 'unavailable')).toHaveLength(10)
})

test('attempts at what is closed already are not kept', async () => {
  const throttle = new SignInThrottle(new MemoryCounter({ span: signInSpan }))
  const codes: string[] = []
  const attempt = (account: string, address: string) =>
    throttle.attempt({ account, address }).catch(({ code }) => void codes.push(code))
  for (let failure = 0; failure < 5; failure++) await attempt('ada', '192.0.2.1')
  // Refused for the account, so the network has no more failures.
  for (let index = 0; index < 20; index++) await attempt('ada', '192.0.2.1')
  expect(codes).toEqual(Array(20).fill('rate_limited'))
  for (let index = 0; index < 15; index++) await attempt(`bob${index}`, '192.0.2.1')
  expect(codes).toHaveLength(20)
})

test('a person without a role in any tenant is told so, once the password is right', async () => {
  const { ctx, person } = await people()
  const { id } = await person(email)
  for (const { tenantId } of await ctx.users.memberships(id)) await ctx.users.removeRole(id, tenantId)
  await expect(signIn(ctx, { email, password: 'wrong' }, client)).rejects.toMatchObject({ code: 'sign_in_failed' })
  await expect(signIn(ctx, { email, password }, client)).rejects.toMatchObject({ code: 'no_role' })
})

test.each([
  ['short', 'x'.repeat(11), 'must be at least 12 characters'],
  ['short in characters, if long in code units', '😀'.repeat(11), 'must be at least 12 characters'],
  ['endless', 'x'.repeat(201), 'must be at most 200 characters'],
])('a password that is %s is refused', (_, text, message) => {
  expect(NewPassword.safeParse(text).error?.issues.map((issue) => issue.message)).toEqual([message])
})

test('a password that is easy to guess is refused', async () => {
  for (const easy of [
    'password1234',
    'Password123!',
    'leavemealone',
    'aaaaaaaaaaaa',
    'qwertyuiop12',
    '123456789012',
    'abcdefghijkl',
    'passwordpassword',
    'adalovelace12',
    'Ada@Example.com',
    'ganglion1234',
    'x'.repeat(200),
  ]) {
    await expect(requireHardPassword(easy, [email, 'Ada Lovelace']), easy).rejects.toMatchObject({
      fieldErrors: { password: ['is easy to guess; three or four unrelated words are not'] },
    })
  }
  for (const hard of [password, 'purple-otter-sings-42', 'пароль из четырёх слов', '七転び八起き七転び八起き!']) {
    await expect(requireHardPassword(NewPassword.parse(hard), [email, 'Ada Lovelace'])).resolves.toBeUndefined()
  }
})
