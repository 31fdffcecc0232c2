import { expect, test } from 'vitest'
import { listAudit, recordAct } from '../../src/kb/access/audit.ts'
import { makeAdministrator, makeSetUpLink, readLink, setPasswordByLink } from '../../src/people/follow-links.ts'
import {
  administratorOf,
  changePerson,
  changeRole,
  invitePerson,
  listPeople,
  makeResetLink,
} from '../../src/people/manage-people.ts'
import { openSession } from '../../src/people/person-session.ts'
import { signIn } from '../../src/people/sign-in.ts'
import { client, password, people } from './support.ts'

const minute = 60_000
const hour = 60 * minute
const bob = { email: 'bob@example.com', name: 'Bob', role: 'reader' } as const

async function managed() {
  const all = await people()
  const admin = await all.session('admin')
  return { ...all, admin, administrator: administratorOf(admin, client.address) }
}

test('only an administrator manages people', async () => {
  const { session } = await people()
  for (const role of ['reader', 'curator'] as const) {
    const somebody = await session(role)
    expect(() => administratorOf(somebody, '')).toThrow(expect.objectContaining({ code: 'insufficient_role' }))
  }
})

test('who is invited chooses a password by a link that works once, for a day', async () => {
  const { ctx, administrator, wait, audit } = await managed()
  const link = await invitePerson(ctx, administrator, bob)
  expect(await readLink(ctx, link)).toEqual({ kind: 'password', email: bob.email, name: 'Bob' })
  await expect(setPasswordByLink(ctx, link, 'password1234', client)).rejects.toMatchObject({
    fieldErrors: { password: [expect.stringContaining('easy to guess')] },
  })
  wait(24 * hour - 1)
  const token = await setPasswordByLink(ctx, link, password, client)
  expect((await openSession(ctx, token))?.session).toMatchObject({ user: { email: bob.email }, role: 'reader' })
  for (const act of [() => readLink(ctx, link), () => setPasswordByLink(ctx, link, password, client)]) {
    await expect(act()).rejects.toMatchObject({ code: 'link_expired' })
  }
  expect(await signIn(ctx, { email: bob.email, password }, client)).toBeDefined()
  expect((await audit())[0]).toBe('user.invited bob@example.com as reader')

  const late = await invitePerson(ctx, administrator, { ...bob, email: 'late@example.com' })
  wait(24 * hour)
  await expect(readLink(ctx, late)).rejects.toMatchObject({ code: 'link_expired' })
})

test('of two who use one link at once, one gets in', async () => {
  const { ctx, administrator } = await managed()
  const link = await invitePerson(ctx, administrator, bob)
  const results = await Promise.allSettled([1, 2].map(() => setPasswordByLink(ctx, link, password, client)))
  expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
})

test('an e-mail is one person', async () => {
  const { ctx, administrator } = await managed()
  await invitePerson(ctx, administrator, bob)
  await expect(invitePerson(ctx, administrator, bob)).rejects.toMatchObject({
    fieldErrors: { email: ['belongs to somebody already'] },
  })
  expect((await listPeople(ctx, administrator)).people.map(({ email }) => email)).toEqual([
    'admin@example.com',
    'bob@example.com',
  ])
})

test('a reset link works for an hour, replaces the one before, and ends the sessions', async () => {
  const { ctx, administrator, person, wait } = await managed()
  const { id } = await person('ada@example.com')
  const session = await signIn(ctx, { email: 'ada@example.com', password }, client)
  const [first, second] = [
    (await makeResetLink(ctx, administrator, id)).token,
    (await makeResetLink(ctx, administrator, id)).token,
  ]
  await expect(readLink(ctx, first)).rejects.toMatchObject({ code: 'link_expired' })
  expect(await openSession(ctx, session)).toBeDefined()
  await setPasswordByLink(ctx, second, 'purple-otter-sings-42', client)
  expect(await openSession(ctx, session)).toBeUndefined()
  const { token: third } = await makeResetLink(ctx, administrator, id)
  wait(hour)
  await expect(readLink(ctx, third)).rejects.toMatchObject({ code: 'link_expired' })
})

test('who is disabled is out at once: sessions, password and link', async () => {
  const { ctx, administrator, person, audit } = await managed()
  const { id } = await person('ada@example.com')
  const session = await signIn(ctx, { email: 'ada@example.com', password }, client)
  const { token: link } = await makeResetLink(ctx, administrator, id)
  await changePerson(ctx, administrator, id, 'disable')
  expect(await openSession(ctx, session)).toBeUndefined()
  await expect(signIn(ctx, { email: 'ada@example.com', password }, client)).rejects.toThrow('is wrong')
  await expect(readLink(ctx, link)).rejects.toMatchObject({ code: 'link_expired' })
  await changePerson(ctx, administrator, id, 'enable')
  expect(await openSession(ctx, session)).toBeUndefined()
  expect(await signIn(ctx, { email: 'ada@example.com', password }, client)).toBeDefined()
  expect(await audit()).toEqual(
    expect.arrayContaining([
      'user.link-made ada@example.com',
      'user.disabled ada@example.com',
      'user.enabled ada@example.com',
    ]),
  )
})

test('the last administrator of a tenant stays one', async () => {
  const { ctx, administrator, admin, session } = await managed()
  const gone = { code: 'last_administrator' }
  for (const role of ['curator', 'reader', 'none'] as const) {
    await expect(changeRole(ctx, administrator, admin.user.id, role)).rejects.toMatchObject(gone)
  }
  await expect(changePerson(ctx, administrator, admin.user.id, 'disable')).rejects.toMatchObject(gone)
  const second = await session('admin', 'second@example.com')
  const results = await Promise.allSettled(
    [admin, second].map(({ user }) => changeRole(ctx, administrator, user.id, 'curator')),
  )
  expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
})

test('an administrator of one tenant does not reach into another', async () => {
  const { ctx, administrator, session, admin } = await managed()
  const stranger = await session('curator', 'stranger@example.com', 'umbrella')
  const shared = await session('reader', 'shared@example.com', 'umbrella')
  await session('curator', 'shared@example.com')
  for (const act of [
    () => changeRole(ctx, administrator, stranger.user.id, 'reader'),
    () => changePerson(ctx, administrator, stranger.user.id, 'end-sessions'),
    () => makeResetLink(ctx, administrator, stranger.user.id),
  ]) {
    await expect(act()).rejects.toMatchObject({ code: 'not_found' })
  }
  for (const disabledAt of [null, ctx.now(), null]) {
    // A disabled tenant comes back, with all who may enter it.
    await ctx.tenants.setDisabled(shared.tenant, disabledAt)
    for (const act of [
      () => changePerson(ctx, administrator, shared.user.id, 'disable'),
      () => makeResetLink(ctx, administrator, shared.user.id),
    ]) {
      await expect(act()).rejects.toMatchObject({ code: 'insufficient_role' })
    }
  }
  await changeRole(ctx, administrator, shared.user.id, 'none')
  const { tenants } = (await openSession(ctx, shared.token))?.session ?? {}
  expect(tenants?.map(({ slug, role }) => [slug, role])).toEqual([['umbrella', 'reader']])
  expect((await listPeople(ctx, administrator)).people.map(({ email }) => email)).toEqual([admin.user.email])
  expect((await listAudit(ctx, stranger.tenant.id)).entries).toEqual([])
})

test('people and the audit are listed by the page', async () => {
  const { ctx, administrator, admin } = await managed()
  const emails = Array.from({ length: 60 }, (_, index) => `p${String(index).padStart(2, '0')}@example.com`)
  for (const email of emails) await invitePerson(ctx, administrator, { ...bob, email })
  const first = await listPeople(ctx, administrator)
  const second = await listPeople(ctx, administrator, first.next ?? '')
  expect([...first.people, ...second.people].map(({ email }) => email)).toEqual([admin.user.email, ...emails])
  expect([first.people.length, second.people.length, second.next]).toEqual([50, 11, null])
  expect(JSON.stringify(first)).not.toContain('argon2')

  const latest = await listAudit(ctx, admin.tenant.id)
  const rest = await listAudit(ctx, admin.tenant.id, latest.next ?? 0)
  expect([...latest.entries, ...rest.entries].map(({ subject }) => subject)).toEqual(emails.toReversed())
  expect(latest.entries[0]).toMatchObject({ actor: { name: 'Some admin' }, address: client.address })
})

test('the set-up link makes one administrator, and stays while the form is wrong', async () => {
  const { ctx } = await people()
  await expect(readLink(ctx, '')).rejects.toMatchObject({ code: 'link_expired' })
  const stale = (await makeSetUpLink(ctx)) ?? ''
  const link = (await makeSetUpLink(ctx)) ?? ''
  await expect(readLink(ctx, stale)).rejects.toMatchObject({ code: 'link_expired' })
  expect(await readLink(ctx, link)).toEqual({ kind: 'first-administrator' })
  const given = { email: 'ada@example.com', name: 'Ada', password }
  await expect(makeAdministrator(ctx, link, { ...given, password: 'aaaaaaaaaaaa' }, client)).rejects.toThrow()
  const tokens = await Promise.allSettled([1, 2].map(() => makeAdministrator(ctx, link, given, client)))
  const [made] = tokens.filter((result) => result.status === 'fulfilled')
  expect((await openSession(ctx, made?.value ?? ''))?.session).toMatchObject({
    role: 'admin',
    user: { email: 'ada@example.com' },
  })
  expect(tokens.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  expect(await makeSetUpLink(ctx)).toBeUndefined()
})

test('the set-up link is void once there is an administrator in another way', async () => {
  const { ctx, person } = await people()
  const link = (await makeSetUpLink(ctx)) ?? ''
  await person('ada@example.com', 'admin')
  const given = { email: 'eve@example.com', name: 'Eve', password }
  for (const act of [() => readLink(ctx, link), () => makeAdministrator(ctx, link, given, client)]) {
    await expect(act()).rejects.toMatchObject({ code: 'link_expired' })
  }
})

test('an administrator who chose no password is given a link to do so at the next start', async () => {
  const { ctx } = await people()
  const given = { email: 'admin@localhost', name: 'Administrator', password: undefined }
  await makeAdministrator(ctx, (await makeSetUpLink(ctx)) ?? '', given, client)
  const link = (await makeSetUpLink(ctx)) ?? ''
  expect(await readLink(ctx, link)).toMatchObject({ kind: 'password', email: 'admin@localhost' })
  await expect(makeAdministrator(ctx, link, given, client)).rejects.toMatchObject({ code: 'link_expired' })
  await setPasswordByLink(ctx, link, password, client)
  expect(await makeSetUpLink(ctx)).toBeUndefined()
})

test('a link that an administrator was given by hand outlives the next start', async () => {
  const { ctx } = await people()
  const tenant = (await ctx.tenants.list())[0] ?? expect.fail()
  const operator = { by: { actor: { id: 'operator', name: 'Operator' }, address: null }, tenantId: tenant.id } as const
  const given = { email: 'ada@example.com', name: 'Ada', role: 'admin' } as const
  const link = await invitePerson(ctx, { ...operator, administers: 'all' }, given)
  expect(await makeSetUpLink(ctx)).toBeUndefined()
  await setPasswordByLink(ctx, link, password, client)
})

test('what a caller does to a tenant is recorded with who, when and from where', async () => {
  const { ctx, admin } = await managed()
  const caller = { id: 'user:1', name: 'Ada', tenantId: admin.tenant.id, role: 'curator', connectors: [] } as const
  await recordAct(ctx, { ...caller, address: '192.0.2.7' }, { action: 'key.revoked', subject: 'website' })
  expect((await listAudit(ctx, admin.tenant.id)).entries).toEqual([
    {
      id: 1,
      at: '2026-03-01T10:00:00.000Z',
      actor: { id: 'user:1', name: 'Ada' },
      action: 'key.revoked',
      subject: 'website',
      detail: '',
      address: '192.0.2.7',
    },
  ])
})
