import { expect, test } from 'vitest'
import {
  changePassword,
  endOtherSessions,
  endOwnSession,
  readAccount,
  signOut,
  switchTenant,
} from '../../src/people/account.ts'
import { openSession } from '../../src/people/person-session.ts'
import { signIn } from '../../src/people/sign-in.ts'
import { client, password, people } from './support.ts'

const minute = 60_000
const hour = 60 * minute
const newPassword = 'purple-otter-sings-42'

test('a session ends 12 hours after its last use', async () => {
  const { ctx, wait, session } = await people()
  const { token } = await session('curator')
  wait(11 * hour)
  expect(await openSession(ctx, token)).toBeDefined()
  wait(12 * hour - 1)
  expect(await openSession(ctx, token)).toBeDefined()
  wait(12 * hour)
  expect(await openSession(ctx, token)).toBeUndefined()
  expect(await ctx.sessions.sweep(ctx.now())).toBe(1)
})

test('a session ends after 7 days, however it is used', async () => {
  const { ctx, wait, session } = await people()
  const { token } = await session('curator')
  for (let day = 0.25; day < 7; day += 0.25) {
    wait(6 * hour)
    expect(await openSession(ctx, token), `day ${day}`).toBeDefined()
  }
  wait(6 * hour)
  expect(await openSession(ctx, token)).toBeUndefined()
})

test('the token itself is stored nowhere', async () => {
  const { ctx, session } = await people()
  const { token, user } = await session('curator')
  const stored = JSON.stringify(await ctx.sessions.list(user.id, ctx.now()))
  expect(stored).not.toContain(token)
  for (const wrong of ['', token.slice(1), `${token}=`, token.toUpperCase(), 'x'.repeat(43)]) {
    expect(await openSession(ctx, wrong)).toBeUndefined()
  }
})

test('signing out ends this session only', async () => {
  const { ctx, session, audit } = await people()
  const [here, there] = [await session('curator'), await session('curator')]
  await signOut(ctx, here, client)
  expect(await openSession(ctx, here.token)).toBeUndefined()
  expect(await openSession(ctx, there.token)).toBeDefined()
  expect(await audit()).toEqual(['user.signed-out curator@example.com'])
})

test('a person sees their sessions, and ends one', async () => {
  const { ctx, session } = await people()
  const [here, there, other] = [await session('curator'), await session('curator'), await session('reader')]
  const { sessions } = await readAccount(ctx, here)
  expect(sessions.map(({ id, isThis }) => [id, isThis]).sort()).toEqual(
    [
      [here.id, true],
      [there.id, false],
    ].sort(),
  )
  await endOwnSession(ctx, here, other.id)
  expect(await openSession(ctx, other.token)).toBeDefined()
  await endOwnSession(ctx, here, there.id)
  expect(await openSession(ctx, there.token)).toBeUndefined()
})

test('a person ends all their other sessions', async () => {
  const { ctx, session, audit } = await people()
  const [here, there, other] = [await session('curator'), await session('curator'), await session('reader')]
  await endOtherSessions(ctx, here, client)
  const open = await Promise.all([here, there, other].map(({ token }) => openSession(ctx, token)))
  expect(open.map((one) => one !== undefined)).toEqual([true, false, true])
  expect(await audit()).toEqual(['user.sessions-ended curator@example.com 1'])
})

test('a new password ends the other sessions, moves this one, and needs the old one', async () => {
  const { ctx, person } = await people()
  await person('ada@example.com')
  const [token, elsewhere] = [
    await signIn(ctx, { email: 'ada@example.com', password }, client),
    await signIn(ctx, { email: 'ada@example.com', password }, client),
  ]
  const open = await openSession(ctx, token)
  if (open === undefined) throw new Error('no session')
  const change = (current: string) => changePassword(ctx, open.session, { current, password: newPassword }, client)
  await expect(change('wrong')).rejects.toMatchObject({ fieldErrors: { current: ['is wrong'] } })
  expect(await openSession(ctx, elsewhere)).toBeDefined()

  const newToken = await change(password)
  expect(await openSession(ctx, elsewhere)).toBeUndefined()
  expect(await openSession(ctx, token)).toBeUndefined()
  expect((await openSession(ctx, newToken ?? ''))?.session.id).toBe(open.session.id)
  await expect(signIn(ctx, { email: 'ada@example.com', password }, client)).rejects.toThrow('wrong')
  expect(await signIn(ctx, { email: 'ada@example.com', password: newPassword }, client)).toBeDefined()
})

test('a session goes on in another tenant of the person, and in no other', async () => {
  const { ctx, session } = await people()
  const here = await session('admin')
  const umbrella = await session('reader', 'admin@example.com', 'umbrella')
  const token = await switchTenant(ctx, { ...here, tenants: umbrella.tenants }, umbrella.tenant.id)
  const moved = await openSession(ctx, token ?? '')
  expect(moved?.session).toMatchObject({ id: here.id, tenant: { slug: 'umbrella' }, role: 'reader' })
  expect(moved?.caller).toMatchObject({ tenantId: umbrella.tenant.id, role: 'reader' })
  expect(await openSession(ctx, here.token)).toBeUndefined()
  const foreign = await ctx.tenants.ensure('globex', ctx.now())
  expect(await switchTenant(ctx, here, foreign.id)).toBeUndefined()
})

test('who loses the role in a tenant goes on in another, and without any goes nowhere', async () => {
  const { ctx, session } = await people()
  const { token, user, tenant } = await session('admin')
  const umbrella = await session('reader', 'admin@example.com', 'umbrella')
  await ctx.users.removeRole(user.id, tenant.id)
  const moved = await openSession(ctx, token)
  expect(moved?.session).toMatchObject({ tenant: { slug: 'umbrella' }, role: 'reader' })
  expect(moved?.newToken).toBeDefined()
  await ctx.users.removeRole(user.id, umbrella.tenant.id)
  expect(await openSession(ctx, moved?.newToken ?? '')).toBeUndefined()
})

test('a replaced token is taken for half a minute', async () => {
  const { ctx, session, wait } = await people()
  const { token, user, tenant } = await session('reader')
  await ctx.users.setRole(user.id, tenant.id, 'curator')
  const { newToken } = (await openSession(ctx, token)) ?? {}
  wait(29_999)
  expect(await openSession(ctx, token)).toMatchObject({ session: { role: 'curator' } })
  expect((await openSession(ctx, token))?.newToken).toBeUndefined()
  wait(1)
  expect(await openSession(ctx, token)).toBeUndefined()
  expect(await openSession(ctx, newToken ?? '')).toBeDefined()
})

test('a page that is left open does not keep a session alive, nor move it', async () => {
  const { ctx, session, wait } = await people()
  const { token, user, tenant } = await session('reader')
  await ctx.users.setRole(user.id, tenant.id, 'curator')
  wait(12 * hour - 1)
  const open = await openSession(ctx, token, { isUse: false })
  expect([open?.session.role, open?.newToken]).toEqual(['curator', undefined])
  wait(1)
  expect(await openSession(ctx, token)).toBeUndefined()
})
