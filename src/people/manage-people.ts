import { GanglionError, ValidationError } from '../contract/errors.ts'
import type { PersonRole } from '../contract/vocabulary.ts'
import type { Act, By } from '../kb/access/audit.ts'
import type { Context } from '../kb/context.ts'
import { operator } from '../kb/create-kb.ts'
import { ApiKeys } from '../state/accounts/api-keys.ts'
import { Audit } from '../state/accounts/audit-store.ts'
import { OneTimeLinks } from '../state/accounts/one-time-links.ts'
import { Sessions } from '../state/accounts/sessions.ts'
import { type Membership, type Person, type User, Users } from '../state/accounts/users.ts'
import { inTransaction } from '../state/database/transaction.ts'
import type { Session } from './person-session.ts'
import { byPerson } from './person-session.ts'

export type Administrator = {
  by: By
  tenantId: string
  /** Tenants whose people the caller manages; the server's operator manages everybody. */
  administers: ReadonlySet<string> | 'all'
}

export type PeoplePage = {
  people: (Omit<Person, 'passwordHash'> & { hasPassword: boolean })[]
  /** E-mail for the query of the next page; null on the last one. */
  next: string | null
}

export type PersonChange = 'disable' | 'enable' | 'end-sessions'

const pageSize = 50

export function operatorOf(tenantId: string): Administrator {
  return { by: { actor: operator, address: null }, tenantId, administers: 'all' }
}

export function administratorOf(session: Session, address: string): Administrator {
  if (session.role !== 'admin') throw new GanglionError('insufficient_role')
  const administered = new Set(session.tenants.flatMap(({ id, role }) => (role === 'admin' ? [id] : [])))
  return { by: byPerson(session, address), tenantId: session.tenant.id, administers: administered }
}

export async function listPeople({ users }: Context, { tenantId }: Administrator, after?: string): Promise<PeoplePage> {
  const people = await users.list(tenantId, { ...(after !== undefined && { after }), limit: pageSize + 1 })
  const shown = people
    .slice(0, pageSize)
    .map(({ passwordHash, ...person }) => ({ ...person, hasPassword: passwordHash !== null }))
  return { people: shown, next: people.length > pageSize ? (shown.at(-1)?.email ?? null) : null }
}

/**
 * Creates a user with a role.
 * @returns the token of the link with which they choose their password
 * @throws {ValidationError} if the e-mail is taken
 */
export async function invitePerson(
  ctx: Context,
  { by, tenantId }: Administrator,
  { email, name, role }: { email: string; name: string; role: PersonRole },
): Promise<string> {
  const { now } = ctx
  return inTransaction(ctx.database.db, async (transaction) => {
    const users = new Users(transaction)
    const user = await users.create({ email, name, passwordHash: null }, now())
    if (user === undefined) throw new ValidationError({ email: ['belongs to somebody already'] })
    await users.setRole(user.id, tenantId, role)
    const act = { action: 'user.invited', subject: email, detail: `as ${role}` }
    await new Audit(transaction).record(tenantId, { ...by, ...act }, now())
    return new OneTimeLinks(transaction).create({ purpose: 'set-up', userId: user.id, tenantId: null }, now())
  })
}

/**
 * Changes or removes the role of a person of the tenant; the operator may change anybody's.
 * @throws {GanglionError} `not_found`, `last_administrator`
 */
export async function changeRole(
  ctx: Context,
  administrator: Administrator,
  userId: string,
  role: PersonRole | 'none',
): Promise<void> {
  const { tenantId } = administrator
  await onPerson(ctx, administrator, userId, async ({ users, keys, user, memberships }) => {
    const before = memberships.find((membership) => membership.tenantId === tenantId)?.role ?? 'none'
    if (before === role) return undefined
    if (before === 'admin' && (await users.otherAdmins(tenantId, user.id)) === 0) {
      throw new GanglionError('last_administrator')
    }
    if (role === 'none') {
      await users.removeRole(user.id, tenantId)
      await keys.revokeAgents(user.id, ctx.now(), tenantId)
    } else await users.setRole(user.id, tenantId, role)
    return { action: 'user.role-changed', detail: `from ${before} to ${role}` }
  })
}

/** Changes a person's display name. @throws {GanglionError} `not_found` */
export async function renamePerson(
  ctx: Context,
  administrator: Administrator,
  userId: string,
  name: string,
): Promise<void> {
  await onPerson(ctx, administrator, userId, async ({ users, user }) => {
    if (name === user.name) return undefined
    await users.rename(user.id, name)
    return { action: 'user.renamed', detail: `from ${user.name} to ${name}` }
  })
}

/**
 * Disables an account, which permanently ends its sessions and agents, enables it, or ends its sessions.
 * @throws {GanglionError} `not_found`, `last_administrator`; `insufficient_role` if the person also belongs to tenants that the
 * administrator does not manage
 */
export async function changePerson(
  ctx: Context,
  administrator: Administrator,
  userId: string,
  change: PersonChange,
): Promise<void> {
  await onPerson(ctx, administrator, userId, async ({ users, sessions, links, keys, user, memberships }) => {
    if (change === 'end-sessions') {
      await sessions.endAll(user.id)
      return { action: 'user.sessions-ended' }
    }
    requireAll(administrator, memberships)
    if (change === 'enable') {
      if (user.disabledAt === null) return undefined
      await users.setDisabled(user.id, null)
      return { action: 'user.enabled' }
    }
    if (user.disabledAt !== null) return undefined
    for (const { tenantId, role } of memberships) {
      if (role === 'admin' && (await users.otherAdmins(tenantId, user.id)) === 0) {
        throw new GanglionError('last_administrator')
      }
    }
    await users.setDisabled(user.id, ctx.now())
    await sessions.endAll(user.id)
    await links.remove(user.id)
    await keys.revokeAgents(user.id, ctx.now())
    return { action: 'user.disabled' }
  })
}

/**
 * Creates a link with which a person chooses a password.
 * @returns the person's e-mail and the link's token
 * @throws {GanglionError} `not_found`, `insufficient_role`
 */
export async function makeResetLink(
  ctx: Context,
  administrator: Administrator,
  userId: string,
): Promise<{ email: string; token: string }> {
  let link = { email: '', token: '' }
  await onPerson(ctx, administrator, userId, async ({ links, user, memberships }) => {
    requireAll(administrator, memberships)
    const token = await links.create({ purpose: 'reset', userId: user.id, tenantId: null }, ctx.now())
    link = { email: user.email, token }
    return { action: 'user.link-made' }
  })
  return link
}

type OnPerson = {
  users: Users
  sessions: Sessions
  links: OneTimeLinks
  keys: ApiKeys
  user: User
  memberships: Membership[]
}

/** Changes a person of the tenant and records the event, in one transaction. */
async function onPerson(
  ctx: Context,
  { by, tenantId, administers }: Administrator,
  userId: string,
  act: (on: OnPerson) => Promise<Omit<Act, 'subject'> | undefined>,
): Promise<void> {
  await inTransaction(ctx.database.db, async (transaction) => {
    const users = new Users(transaction)
    const [user, memberships] = [await users.get(userId), await users.memberships(userId)]
    const isOwn = administers === 'all' || memberships.some((membership) => membership.tenantId === tenantId)
    if (user === undefined || !isOwn) throw new GanglionError('not_found')
    const [sessions, links] = [new Sessions(transaction), new OneTimeLinks(transaction)]
    const keys = new ApiKeys({ db: transaction, revision: ctx.database.revision })
    const done = await act({ users, sessions, links, keys, user, memberships })
    if (done === undefined) return
    const entry = { ...by, subject: user.email, detail: '', ...done }
    await new Audit(transaction).record(tenantId, entry, ctx.now())
  })
}

/** Requires an administrator of every tenant the person belongs to: the change affects how they sign in everywhere. */
function requireAll({ administers }: Administrator, memberships: readonly Membership[]): void {
  if (administers === 'all' || memberships.every(({ tenantId }) => administers.has(tenantId))) return
  throw new GanglionError(
    'insufficient_role',
    'This person also works for tenants that you do not manage. The operator of the server can change them.',
  )
}
