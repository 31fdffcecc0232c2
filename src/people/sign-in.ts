import { createHmac, timingSafeEqual } from 'node:crypto'
import { GanglionError } from '../contract/errors.ts'
import { foldEmail } from '../contract/people.ts'
import type { Context } from '../kb/context.ts'
import { createSecret } from '../state/accounts/secret.ts'
import type { User } from '../state/accounts/users.ts'
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

/** Seconds for which a browser is remembered after its last sign-in. */
export const deviceAge = 180 * 24 * 60 * 60
const shape = /^(?<id>[\w-]{43})\.(?<end>\d{1,12})\.(?<mac>[\w-]{43})$/

type Owner = Pick<User, 'id' | 'passwordHash'>

/** Returns a token proving that this browser has signed in as the user before. It becomes invalid when the password changes. */
export function proveDevice(user: Owner, now: Date): string | undefined {
  const [id, end] = [createSecret(), Math.floor(now.getTime() / 1000) + deviceAge]
  const mac = macOf(user, id, end)?.toString('base64url')
  return mac && `${id}.${end}.${mac}`
}

/** Returns the id of the browser in such a token; undefined if it is not valid for this user. */
export function provenDevice(user: Owner | undefined, proof: string | undefined, now: Date): string | undefined {
  const { id = '', end = '', mac = '' } = shape.exec(proof ?? '')?.groups ?? {}
  const expected = user && macOf(user, id, Number(end))
  if (expected === undefined || Number(end) * 1000 <= now.getTime()) return undefined
  const given = Buffer.from(mac, 'base64url')
  return given.length === expected.length && timingSafeEqual(given, expected) ? id : undefined
}

/** Uses the password hash as the MAC key, so the token ends with the password. Whoever holds the hash can guess offline anyway. */
function macOf({ id: userId, passwordHash }: Owner, id: string, end: number): Buffer | undefined {
  if (passwordHash === null) return undefined
  return createHmac('sha256', passwordHash).update(`device ${userId} ${id} ${end}`).digest()
}
