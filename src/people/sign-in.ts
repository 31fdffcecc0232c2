import { GanglionError } from '../contract/errors.ts'
import { foldEmail } from '../contract/people.ts'
import type { Context } from '../kb/context.ts'
import type { User } from '../state/accounts/users.ts'
import { proveDevice, provenDevice } from './device.ts'
import { hashInTurn, isPasswordOf } from './password.ts'
import { byPerson, type Client, startSession } from './person-session.ts'
import { signIns } from './sign-in-throttle.ts'

/**
 * Signs a person in by e-mail and password. Nothing in the answer, and not its time, tells whether somebody has the e-mail.
 * @returns the token of the new session.
 * @throws {GanglionError} `sign_in_failed`, `rate_limited`, `unavailable`; once the password is right also `no_role`
 */
export async function signIn(
  ctx: Context,
  { email, password }: { email: string; password: string },
  client: Client,
): Promise<string> {
  const { users } = ctx
  const account = foldEmail(email)
  const known = await users.findByEmail(account)
  const device = provenDevice(known, client.device, ctx.now())
  const attempt = { account, address: client.address, device }
  const isRight = await hashInTurn(async () => {
    await signIns(ctx).attempt(attempt)
    return isPasswordOf(known?.passwordHash ?? null, password)
  })
  if (!isRight || known === undefined || known.disabledAt !== null) throw new GanglionError('sign_in_failed')
  await signIns(ctx).forgive(attempt)
  return admit(ctx, known, client, { detail: 'with a password' })
}

/** Returns a token that exempts the session's browser from failures of others at the account; undefined if the account has no password. */
export async function rememberDevice({ users, sessions, now }: Context, token: string): Promise<string | undefined> {
  const found = await sessions.find(token, now())
  const user = found && (await users.get(found.session.userId))
  return user && proveDevice(user, now())
}

/** Starts the session of an authenticated person, and records it. @returns its token @throws {GanglionError} `no_role` */
export async function admit(
  ctx: Context,
  user: Pick<User, 'id' | 'email' | 'name'>,
  client: Client,
  { detail, tenantId }: { detail: string; tenantId?: string | undefined },
): Promise<string> {
  const begun = await startSession(ctx, user.id, client, tenantId)
  if (begun === undefined) throw new GanglionError('no_role')
  const act = { action: 'user.signed-in', subject: user.email, detail }
  await ctx.audit.record(begun.tenantId, { ...byPerson({ user }, client.address), ...act }, ctx.now())
  return begun.token
}
