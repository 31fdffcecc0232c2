import type { PersonRole } from '../contract/vocabulary.ts'
import type { By } from '../kb/access/audit.ts'
import type { Context } from '../kb/context.ts'
import type { Caller } from '../rules/access/caller.ts'
import type { SavedFilter } from '../state/accounts/users.ts'

export type Session = {
  id: string
  user: { id: string; email: string; name: string }
  tenant: { id: string; slug: string }
  /** Role in the session's tenant. */
  role: PersonRole
  /** The person's saved filters in this tenant, oldest first. */
  filters: readonly SavedFilter[]
  tenants: readonly { id: string; slug: string; role: PersonRole }[]
}

/** Origin of a request, as the person and the audit log see it. `device`: proof of an earlier sign-in. */
export type Client = { address: string; agent: string; device?: string | undefined }

export type OpenSession = {
  session: Session
  caller: Caller
  /** Secret from which the tokens of the session's forms are derived. */
  formSecret: string
  /** New token of the session, if it has changed. */
  newToken?: string
}

const maxAgent = 300

/**
 * Starts a session for an authenticated person, in the requested tenant or their first.
 * @returns its token and tenant; undefined if the person has no role there
 */
export async function startSession(
  { users, sessions, now }: Context,
  userId: string,
  { address, agent }: Client,
  tenantId?: string,
): Promise<{ token: string; tenantId: string } | undefined> {
  const memberships = await users.memberships(userId, { served: true })
  const membership = memberships.find((membership) => tenantId === undefined || membership.tenantId === tenantId)
  if (membership === undefined) return undefined
  const { token } = await sessions.create(
    { userId, tenantId: membership.tenantId, role: membership.role, address, agent: agent.slice(0, maxAgent) },
    now(),
  )
  return { token, tenantId: membership.tenantId }
}

/**
 * Returns the session of a token. If the person's role has changed since the token was made, the session continues under a new token.
 * @param options.isUse false for requests that a page sends by itself, which neither extend the session nor replace its token
 * @returns undefined if the token is malformed, unknown or expired, or the person is disabled or has no role left
 */
export async function openSession(
  ctx: Context,
  token: string,
  { isUse }: { isUse: boolean } = { isUse: true },
): Promise<OpenSession | undefined> {
  const { users, sessions, now } = ctx
  const found = await sessions.find(token, now())
  if (found === undefined) return undefined
  const { session: stored, isReplaced } = found
  const { id, formSecret, userId } = stored
  const [user, memberships] = await Promise.all([users.get(userId), users.memberships(userId, { served: true })])
  const membership = memberships.find(({ tenantId }) => tenantId === stored.tenantId) ?? memberships[0]
  if (user === undefined || membership === undefined) return undefined
  const { tenantId, tenantSlug, role, filters } = membership
  const hasChanged = tenantId !== stored.tenantId || role !== stored.role
  const newToken =
    isUse && hasChanged && !isReplaced ? await sessions.rotate(id, { tenantId, role }, now(), stored) : undefined
  if (isUse) await sessions.recordUse(stored, now())
  const { name, email } = user
  return {
    session: {
      ...{ id, user: { id: userId, email, name }, tenant: { id: tenantId, slug: tenantSlug }, role, filters },
      tenants: memberships.map(({ tenantId: id, tenantSlug: slug, role }) => ({ id, slug, role })),
    },
    caller: {
      ...{ id: `user:${userId}`, name, tenantId, role: role === 'reader' ? 'reader' : 'curator', connectors: [] },
      isAdmin: role === 'admin',
    },
    ...{ formSecret, ...(newToken !== undefined && { newToken }) },
  }
}

export function byPerson({ user }: Pick<Session, 'user'>, address: string): By {
  return { actor: { id: `user:${user.id}`, name: user.name }, address }
}
