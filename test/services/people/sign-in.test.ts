import { expect, test, vi } from 'vitest'
import { NewPassword } from '../../../src/contract/people.ts'
import { hashPassword, isPasswordOf, requireHardPassword } from '../../../src/services/people/password.ts'
import { openSession } from '../../../src/services/people/session.ts'
import { signIn } from '../../../src/services/people/sign-in.ts'
import { SignInThrottle, signInSpan } from '../../../src/services/people/sign-in-throttle.ts'
import { MemoryCounter } from '../../../src/store/rate-counter.ts'
import { client, password, people } from './support.ts'

const email = 'ada@example.com'

test('a person signs in by e-mail, however it is typed, and password', async () => {
  const { ganglion, person, audit } = await people()
  const { id } = await person(email)
  const token = await signIn(ganglion, { email: '  Ada@EXAMPLE.com ', password }, client)
  expect(token).toMatch(/^[\w-]{43}$/)
  const open = await openSession(ganglion, token)
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
  const { ganglion, person } = await people()
  await person(email)
  const disabled = await person('bob@example.com')
  await ganglion.users.setDisabled(disabled.id, ganglion.now())
  await ganglion.users.create({ email: 'new@example.com', name: 'New', passwordHash: null }, ganglion.now())
  const attempts = [
    { email, password: `${password}!` },
    { email: 'nobody@example.com', password },
    { email: 'not an e-mail', password },
    { email: 'bob@example.com', password },
    { email: 'new@example.com', password: '' },
  ]
  for (const [index, attempt] of attempts.entries()) {
    const from = { ...client, address: `192.0.2.${index}` }
    await expect(signIn(ganglion, attempt, from)).rejects.toThrow('The e-mail or the password is wrong.')
  }
})

test('an unknown e-mail takes as long as a known one', async () => {
  const { ganglion, person } = await people()
  await person(email)
  const time = async (who: string, address: string) => {
    const begin = performance.now()
    await signIn(ganglion, { email: who, password: 'wrong' }, { ...client, address }).catch(() => {})
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

test('five failures close an account for 15 minutes, known or not, and right passwords do not open it', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] })
  try {
    const { ganglion, person } = await people()
    await person(email)
    for (const who of [email, 'nobody@example.com']) {
      for (let failure = 0; failure < 5; failure++) {
        const from = { ...client, address: `${who.length}.0.2.${failure}` }
        await expect(signIn(ganglion, { email: who, password: 'wrong' }, from)).rejects.toMatchObject({
          code: 'sign_in_failed',
        })
      }
      await expect(signIn(ganglion, { email: who, password }, client)).rejects.toMatchObject({
        code: 'rate_limited',
        details: { retryAfter: expect.toSatisfy((seconds: number) => seconds > 0 && seconds <= 900) },
      })
    }
    vi.setSystemTime(Date.now() + 15 * 60_000)
    expect(await signIn(ganglion, { email, password }, client)).toBeDefined()
  } finally {
    vi.useRealTimers()
  }
})

test('five failures from an address, or from one network of IPv6, close it to all accounts', async () => {
  const { ganglion, person } = await people()
  await person(email)
  const addresses = [
    ['203.0.113.9', '203.0.113.9', '::ffff:203.0.113.9', '203.0.113.9', '203.0.113.9', '203.0.113.9'],
    ['2001:db8::1', '2001:db8::2', '2001:db8::3:4', '2001:db8::4', '2001:db8::5', '2001:db8::6'],
  ]
  for (const [index, from] of addresses.entries()) {
    const codes: string[] = []
    for (const [attempt, address] of from.entries()) {
      const given = { email: `somebody${index}${attempt}@example.com`, password }
      await signIn(ganglion, given, { ...client, address }).catch(({ code }) => codes.push(code))
    }
    expect(codes).toEqual([...Array(5).fill('sign_in_failed'), 'rate_limited'])
  }
  expect(await signIn(ganglion, { email, password }, { ...client, address: '2001:db8:0:1::1' })).toBeDefined()
})

test('who signs in well is not counted, however often', async () => {
  const { ganglion, person } = await people()
  await person(email)
  for (let time = 0; time < 7; time++) expect(await signIn(ganglion, { email, password }, client)).toBeDefined()
})

test('guesses at once are no more than guesses one after the other', async () => {
  const { ganglion, person } = await people()
  await person(email)
  const codes = await Promise.all(
    Array.from({ length: 8 }, () =>
      signIn(ganglion, { email, password: 'wrong' }, client).catch(({ code }): string => code),
    ),
  )
  expect(codes.filter((code) => code === 'sign_in_failed')).toHaveLength(5)
  expect(codes.filter((code) => code === 'rate_limited')).toHaveLength(3)
})

test('a flood of attempts is told to come back, and takes no memory', async () => {
  const { ganglion } = await people()
  const codes = await Promise.all(
    Array.from({ length: 60 }, (_, index) =>
      signIn(ganglion, { email: `a${index}@example.com`, password }, { ...client, address: `192.0.2.${index}` }).catch(
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
    throttle.attempt(account, address).catch(({ code }) => void codes.push(code))
  for (let failure = 0; failure < 5; failure++) await attempt('ada', '192.0.2.1')
  // Refused at the account, so these addresses have no failure; and the other way round.
  for (let index = 0; index < 5; index++) await attempt('ada', '192.0.2.2')
  for (let index = 0; index < 5; index++) await attempt('bob', '192.0.2.1')
  expect(codes).toEqual(Array(10).fill('rate_limited'))
  for (let failure = 0; failure < 5; failure++) await attempt('bob', '192.0.2.2')
  expect(codes).toHaveLength(10)
})

test('a person without a role in any tenant is told so, once the password is right', async () => {
  const { ganglion, person } = await people()
  const { id } = await person(email)
  for (const { tenantId } of await ganglion.users.memberships(id)) await ganglion.users.removeRole(id, tenantId)
  await expect(signIn(ganglion, { email, password: 'wrong' }, client)).rejects.toMatchObject({ code: 'sign_in_failed' })
  await expect(signIn(ganglion, { email, password }, client)).rejects.toMatchObject({ code: 'no_role' })
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
