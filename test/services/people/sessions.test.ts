import { expect, test } from 'vitest'
import {
  changePassword,
  endOwnSession,
  readAccount,
  signOut,
  switchTenant,
} from '../../../src/services/people/account.ts'
import { openSession } from '../../../src/services/people/session.ts'
import { signIn } from '../../../src/services/people/sign-in.ts'
import { client, password, people } from './support.ts'

const minute = 60_000
const hour = 60 * minute
const newPassword = 'purple-otter-sings-42'

test('a session ends 12 hours after its last use', async () => {
  const { ganglion, wait, session } = await people()
  const { token } = await session('curator')
  wait(11 * hour)
  expect(await openSession(ganglion, token)).toBeDefined()
  wait(12 * hour - 1)
  expect(await openSession(ganglion, token)).toBeDefined()
  wait(12 * hour)
  expect(await openSession(ganglion, token)).toBeUndefined()
  expect(await ganglion.sessions.sweep(ganglion.now())).toBe(1)
})

test('a session ends after 7 days, however it is used', async () => {
  const { ganglion, wait, session } = await people()
  const { token } = await session('curator')
  for (let day = 0.25; day < 7; day += 0.25) {
    wait(6 * hour)
    expect(await openSession(ganglion, token), `day ${day}`).toBeDefined()
  }
  wait(6 * hour)
  expect(await openSession(ganglion, token)).toBeUndefined()
})

test('the token itself is stored nowhere', async () => {
  const { ganglion, session } = await people()
  const { token, user } = await session('curator')
  const stored = JSON.stringify(await ganglion.sessions.list(user.id, ganglion.now()))
  expect(stored).not.toContain(token)
  for (const wrong of ['', token.slice(1), `${token}=`, token.toUpperCase(), 'x'.repeat(43)]) {
    expect(await openSession(ganglion, wrong)).toBeUndefined()
  }
})

test('signing out ends this session only', async () => {
  const { ganglion, session, audit } = await people()
  const [here, there] = [await session('curator'), await session('curator')]
  await signOut(ganglion, here, client)
  expect(await openSession(ganglion, here.token)).toBeUndefined()
  expect(await openSession(ganglion, there.token)).toBeDefined()
  expect(await audit()).toEqual(['user.signed-out curator@example.com'])
})

test('a person sees their sessions, and ends one', async () => {
  const { ganglion, session } = await people()
  const [here, there, other] = [await session('curator'), await session('curator'), await session('reader')]
  const { sessions } = await readAccount(ganglion, here)
  expect(sessions.map(({ id, isThis }) => [id, isThis]).sort()).toEqual(
    [
      [here.id, true],
      [there.id, false],
    ].sort(),
  )
  await endOwnSession(ganglion, here, other.id)
  expect(await openSession(ganglion, other.token)).toBeDefined()
  await endOwnSession(ganglion, here, there.id)
  expect(await openSession(ganglion, there.token)).toBeUndefined()
})

test('a new password ends the other sessions, moves this one, and needs the old one', async () => {
  const { ganglion, person } = await people()
  await person('ada@example.com')
  const [token, elsewhere] = [
    await signIn(ganglion, { email: 'ada@example.com', password }, client),
    await signIn(ganglion, { email: 'ada@example.com', password }, client),
  ]
  const open = await openSession(ganglion, token)
  if (open === undefined) throw new Error('no session')
  const change = (current: string) => changePassword(ganglion, open.session, { current, password: newPassword }, client)
  await expect(change('wrong')).rejects.toMatchObject({ fieldErrors: { current: ['is wrong'] } })
  expect(await openSession(ganglion, elsewhere)).toBeDefined()

  const newToken = await change(password)
  expect(await openSession(ganglion, elsewhere)).toBeUndefined()
  expect(await openSession(ganglion, token)).toBeUndefined()
  expect((await openSession(ganglion, newToken ?? ''))?.session.id).toBe(open.session.id)
  await expect(signIn(ganglion, { email: 'ada@example.com', password }, client)).rejects.toThrow('wrong')
  expect(await signIn(ganglion, { email: 'ada@example.com', password: newPassword }, client)).toBeDefined()
})

test('a session goes on in another tenant of the person, and in no other', async () => {
  const { ganglion, session } = await people()
  const here = await session('admin')
  const umbrella = await session('reader', 'admin@example.com', 'umbrella')
  const token = await switchTenant(ganglion, { ...here, tenants: umbrella.tenants }, umbrella.tenant.id)
  const moved = await openSession(ganglion, token ?? '')
  expect(moved?.session).toMatchObject({ id: here.id, tenant: { slug: 'umbrella' }, role: 'reader' })
  expect(moved?.caller).toMatchObject({ tenantId: umbrella.tenant.id, role: 'reader' })
  expect(await openSession(ganglion, here.token)).toBeUndefined()
  const foreign = await ganglion.tenants.ensure('globex', ganglion.now())
  expect(await switchTenant(ganglion, here, foreign.id)).toBeUndefined()
})

test('who loses the role in a tenant goes on in another, and without any goes nowhere', async () => {
  const { ganglion, session } = await people()
  const { token, user, tenant } = await session('admin')
  const umbrella = await session('reader', 'admin@example.com', 'umbrella')
  await ganglion.users.removeRole(user.id, tenant.id)
  const moved = await openSession(ganglion, token)
  expect(moved?.session).toMatchObject({ tenant: { slug: 'umbrella' }, role: 'reader' })
  expect(moved?.newToken).toBeDefined()
  await ganglion.users.removeRole(user.id, umbrella.tenant.id)
  expect(await openSession(ganglion, moved?.newToken ?? '')).toBeUndefined()
})

test('a replaced token is taken for half a minute', async () => {
  const { ganglion, session, wait } = await people()
  const { token, user, tenant } = await session('reader')
  await ganglion.users.setRole(user.id, tenant.id, 'curator')
  const { newToken } = (await openSession(ganglion, token)) ?? {}
  wait(29_999)
  expect(await openSession(ganglion, token)).toMatchObject({ session: { role: 'curator' } })
  expect((await openSession(ganglion, token))?.newToken).toBeUndefined()
  wait(1)
  expect(await openSession(ganglion, token)).toBeUndefined()
  expect(await openSession(ganglion, newToken ?? '')).toBeDefined()
})

test('a page that is left open does not keep a session alive, nor move it', async () => {
  const { ganglion, session, wait } = await people()
  const { token, user, tenant } = await session('reader')
  await ganglion.users.setRole(user.id, tenant.id, 'curator')
  wait(12 * hour - 1)
  const open = await openSession(ganglion, token, { isUse: false })
  expect([open?.session.role, open?.newToken]).toEqual(['curator', undefined])
  wait(1)
  expect(await openSession(ganglion, token)).toBeUndefined()
})
