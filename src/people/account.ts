import { GanglionError, ValidationError } from '../contract/errors.ts'
import type { Me, MeChange } from '../contract/people.ts'
import type { NoticeMode } from '../contract/vocabulary.ts'
import type { Context } from '../kb/context.ts'
import { audiencesOf } from '../rules/access/audience.ts'
import { bareId, type Caller, isPerson } from '../rules/access/caller.ts'
import type { ApiKey } from '../state/accounts/api-keys.ts'
import { OneTimeLinks } from '../state/accounts/one-time-links.ts'
import { Sessions, type StoredSession } from '../state/accounts/sessions.ts'
import { type SavedFilter, Users } from '../state/accounts/users.ts'
import { inTransaction } from '../state/database/transaction.ts'
import { hashInTurn, hashPassword, isPasswordOf, requireHardPassword } from './password.ts'
import { byPerson, type Client, type Session } from './person-session.ts'
import { signIns } from './sign-in-throttle.ts'

export type Account = {
  notices: NoticeMode
  hasPassword: boolean
  /** True if the person signs in with an identity provider. */
  isLinked: boolean
  /** Agents the person has authorized (OAuth grants). */
  agents: Pick<ApiKey, 'id' | 'name' | 'role' | 'createdAt' | 'lastUsedAt'>[]
  /** Open sessions, most recently used first. */
  sessions: (Pick<StoredSession, 'id' | 'address' | 'agent' | 'createdAt' | 'usedAt'> & { isThis: boolean })[]
}

export async function readAccount({ users, sessions, apiKeys, now }: Context, { id, user }: Session): Promise<Account> {
  const [known, open, agents] = await Promise.all([
    users.get(user.id),
    sessions.list(user.id, now()),
    apiKeys.agentsOf(user.id),
  ])
  return {
    notices: known?.notices ?? 'off',
    hasPassword: known !== undefined && known.passwordHash !== null,
    isLinked: known?.isLinked === true,
    agents,
    sessions: open.map(({ id: own, address, agent, createdAt, usedAt }) => ({
      ...{ id: own, address, agent, createdAt, usedAt, isThis: own === id },
    })),
  }
}

/** Changes the caller's own name. Past commits and records keep the old one. */
export async function changeName(ctx: Context, session: Session, name: string, client: Client): Promise<void> {
  const { user } = session
  if (name === user.name) return
  await ctx.users.rename(user.id, name)
  await record(ctx, session, client, { action: 'user.renamed', detail: `from ${user.name} to ${name}` })
}

const maxFilters = 30

/** Saves a queue filter, replacing one with the same path or name. @throws {ValidationError} of `name`, if there are too many */
export async function saveFilter({ users }: Context, session: Session, filter: SavedFilter): Promise<void> {
  const others = session.filters.filter(({ path, name }) => path !== filter.path && name !== filter.name)
  if (others.length >= maxFilters) throw new ValidationError({ name: [`there are ${maxFilters} already: remove one`] })
  await users.setFilters(session.user.id, session.tenant.id, [...others, filter])
}

export async function removeFilter({ users }: Context, session: Session, path: string): Promise<void> {
  const others = session.filters.filter((filter) => filter.path !== path)
  await users.setFilters(session.user.id, session.tenant.id, others)
}

/**
 * Changes the caller's own password, and ends their other sessions. A person without a password need not give the current one, and may set
 * their e-mail: nobody else may, since an identity provider's people are first recognized by it.
 * @returns the new token of this session
 * @throws {ValidationError} of `current` or `password`; {GanglionError} `rate_limited`, `unavailable`
 */
export async function changePassword(
  ctx: Context,
  session: Session,
  { email, current, password }: { email?: string | undefined; current: string; password: string },
  client: Client,
): Promise<string | undefined> {
  const { user, id } = session
  const known = await ctx.users.get(user.id)
  await requireHardPassword(password, [email ?? user.email, user.name])
  if (known !== undefined && known.passwordHash !== null) {
    // The caller is signed in, so failed sign-ins from elsewhere must not block this.
    const attempt = { account: user.email, address: client.address, device: id }
    const isRight = await hashInTurn(async () => {
      await signIns(ctx).attempt(attempt)
      return isPasswordOf(known.passwordHash, current)
    })
    if (!isRight) throw new ValidationError({ current: ['is wrong'] })
    await signIns(ctx).forgive(attempt)
  }
  const passwordHash = await hashPassword(password)
  const isNew = known !== undefined && known.passwordHash === null && !known.isLinked
  await inTransaction(ctx.database.db, async (transaction) => {
    const users = new Users(transaction)
    await users.setPassword(user.id, passwordHash)
    if (isNew && email !== undefined && !(await users.setEmail(user.id, email))) {
      throw new ValidationError({ email: ['belongs to somebody already'] })
    }
    await new Sessions(transaction).endAll(user.id, id)
    await new OneTimeLinks(transaction).remove(user.id)
  })
  await record(ctx, session, client, { action: 'user.password-changed' })
  return ctx.sessions.rotate(id, { tenantId: session.tenant.id, role: session.role }, ctx.now())
}

/** Switches the session to another of the person's tenants. @returns the new session token; undefined if the person has no role there */
export async function switchTenant(
  { sessions, now }: Context,
  { id, tenants }: Session,
  tenantId: string,
): Promise<string | undefined> {
  const tenant = tenants.find((tenant) => tenant.id === tenantId)
  return tenant && sessions.rotate(id, { tenantId, role: tenant.role }, now())
}

export async function endOwnSession({ sessions }: Context, { user }: Session, id: string): Promise<void> {
  await sessions.end(user.id, id)
}

/** Ends all of a person's other sessions. */
export async function endOtherSessions(ctx: Context, session: Session, client: Client): Promise<void> {
  const ended = await ctx.sessions.endAll(session.user.id, session.id)
  if (ended > 0) await record(ctx, session, client, { action: 'user.sessions-ended', detail: String(ended) })
}

export async function signOut(ctx: Context, session: Session, client: Client): Promise<void> {
  await ctx.sessions.end(session.user.id, session.id)
  await record(ctx, session, client, { action: 'user.signed-out' })
}

async function record(
  { audit, now }: Context,
  session: Session,
  { address }: Client,
  { action, detail = '' }: { action: string; detail?: string },
): Promise<void> {
  const by = byPerson(session, address)
  await audit.record(session.tenant.id, { ...by, action, subject: session.user.email, detail }, now())
}

export async function readMe({ tenants, apiKeys, users }: Context, caller: Caller): Promise<Me> {
  const { name, role, tenantId, connectors } = caller
  const id = bareId(caller)
  const [user, key] = isPerson(caller) ? [await users.get(id)] : [undefined, await apiKeys.find(id)]
  const tenant = await tenants.get(tenantId)
  if (tenant === undefined) throw new GanglionError('not_found')
  const told = user && { notices: user.notices }
  const may = { role, audiences: audiencesOf(caller), connectors: [...connectors] }
  return { name, tenant: tenant.slug, ...may, expiresAt: key?.expiresAt ?? null, ...told }
}

/** Changes the caller's notification settings. @throws {GanglionError} `insufficient_role` for a key */
export async function changeMe(ctx: Context, caller: Caller, { notices }: MeChange): Promise<Me> {
  if (!isPerson(caller)) throw new GanglionError('insufficient_role')
  await ctx.users.setNotices(bareId(caller), notices)
  return readMe(ctx, caller)
}
