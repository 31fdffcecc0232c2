import { GanglionError, ValidationError } from '../contract/errors.ts'
import type { Context } from '../kb/context.ts'
import { OneTimeLinks } from '../state/accounts/one-time-links.ts'
import { Sessions } from '../state/accounts/sessions.ts'
import { type User, Users } from '../state/accounts/users.ts'
import { inTransaction } from '../state/database/transaction.ts'
import { hashPassword, requireHardPassword } from './password.ts'
import type { Client } from './person-session.ts'
import { admit } from './sign-in.ts'
import { signIns } from './sign-in-throttle.ts'

/** Purpose of a one-time link: it creates the first administrator, or sets somebody's password. */
export type LinkPurpose = { kind: 'first-administrator' } | { kind: 'password'; email: string; name: string }

/** First administrator. `password`: undefined to choose it later, which nobody else may. */
export type NewAdministrator = { email: string; name: string; password: string | undefined }

/**
 * Returns the token of a link that creates the first administrator, or lets the existing one choose a password; each call invalidates
 * earlier ones. Undefined if an administrator can sign in or has a valid link, or there is no tenant.
 */
export async function makeSetUpLink({ users, tenants, oneTimeLinks, now }: Context): Promise<string | undefined> {
  const admins = await users.administrators()
  if (admins.some(({ canSignIn }) => canSignIn)) return undefined
  const [admin] = admins
  if (admin !== undefined) {
    if (await oneTimeLinks.isInvited(admin.id, now())) return undefined
    return oneTimeLinks.create({ purpose: 'reset', userId: admin.id, tenantId: null }, now())
  }
  const tenant = (await tenants.find('default')) ?? (await tenants.list())[0]
  return tenant && oneTimeLinks.create({ purpose: 'set-up', userId: null, tenantId: tenant.id }, now())
}

/** Returns the purpose of a one-time link without consuming it. @throws {GanglionError} `link_expired` */
export async function readLink(ctx: Context, token: string): Promise<LinkPurpose> {
  const { user } = await findLink(ctx, token)
  return user === undefined ? { kind: 'first-administrator' } : { kind: 'password', email: user.email, name: user.name }
}

/**
 * Uses a link to create the first administrator, and signs them in.
 * @returns the token of their session
 * @throws {GanglionError} `link_expired`; {ValidationError}, which keeps the link valid
 */
export async function makeAdministrator(
  ctx: Context,
  token: string,
  { email, name, password }: NewAdministrator,
  client: Client,
): Promise<string> {
  const link = await findLink(ctx, token)
  const { tenantId } = link
  if (tenantId === null) throw new GanglionError('link_expired')
  if (password !== undefined) await requireHardPassword(password, [email, name])
  const passwordHash = password === undefined ? null : await hashPassword(password)
  const { now } = ctx
  const user = await inTransaction(ctx.database.db, async (transaction) => {
    const users = new Users(transaction)
    if ((await new OneTimeLinks(transaction).use(token, now())) === undefined) throw new GanglionError('link_expired')
    const made = await users.create({ email, name, passwordHash }, now())
    if (made === undefined) throw new ValidationError({ email: ['belongs to somebody already'] })
    await users.setRole(made.id, tenantId, 'admin')
    return made
  })
  return admit(ctx, user, client, { detail: 'with a set-up link', tenantId })
}

/**
 * Uses a link to set a password, ends the person's sessions, and signs them in.
 * @returns the token of the new session
 * @throws {GanglionError} `link_expired`, `no_role`; {ValidationError}, which keeps the link valid
 */
export async function setPasswordByLink(
  ctx: Context,
  token: string,
  password: string,
  client: Client,
): Promise<string> {
  const { user } = await findLink(ctx, token)
  if (user === undefined) throw new GanglionError('link_expired')
  await requireHardPassword(password, [user.email, user.name])
  const passwordHash = await hashPassword(password)
  await inTransaction(ctx.database.db, async (transaction) => {
    const used = await new OneTimeLinks(transaction).use(token, ctx.now())
    if (used === undefined) throw new GanglionError('link_expired')
    await new Users(transaction).setPassword(user.id, passwordHash)
    await new Sessions(transaction).endAll(user.id)
  })
  await signIns(ctx).open({ account: user.email, address: client.address })
  return admit(ctx, user, client, { detail: 'with a link, and chose a password' })
}

async function findLink(
  { oneTimeLinks, users, now }: Context,
  token: string,
): Promise<{ tenantId: string | null; user: User | undefined }> {
  const link = await oneTimeLinks.find(token, now())
  const user = link === undefined || link.userId === null ? undefined : await users.get(link.userId)
  if (link === undefined || (link.userId !== null && user === undefined)) throw new GanglionError('link_expired')
  // Refuses if an administrator already exists.
  const isLate = user === undefined && (await users.administrators()).some(({ canSignIn }) => canSignIn)
  if (isLate || (user !== undefined && user.disabledAt !== null)) throw new GanglionError('link_expired')
  return { tenantId: link.tenantId, user }
}
