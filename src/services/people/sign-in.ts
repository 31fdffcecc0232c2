import { GanglionError } from '../../contract/errors.ts'
import { foldEmail } from '../../contract/people.ts'
import type { User } from '../../store/accounts/users.ts'
import type { Ganglion } from '../ganglion.ts'
import { byPerson } from './audit.ts'
import { hashInTurn, isPasswordOf } from './password.ts'
import { type Client, startSession } from './session.ts'

/**
 * Signs a person in by e-mail and password. Nothing in the answer, and not its time, tells whether somebody has the e-mail.
 * @returns the token of the new session.
 * @throws {GanglionError} `sign_in_failed`, `rate_limited`, `unavailable`; once the password is right also `no_role`
 */
export async function signIn(
  ganglion: Ganglion,
  { email, password }: { email: string; password: string },
  client: Client,
): Promise<string> {
  const { users, signIns } = ganglion
  const account = foldEmail(email)
  const user = await hashInTurn(async () => {
    await signIns.attempt(account, client.address)
    const known = await users.findByEmail(account)
    const isRight = await isPasswordOf(known?.passwordHash ?? null, password)
    return isRight ? known : undefined
  })
  if (user === undefined || user.disabledAt !== null) throw new GanglionError('sign_in_failed')
  await signIns.forgive(account, client.address)
  return admit(ganglion, user, client, { detail: 'with a password' })
}

/**
 * Begins the session of somebody who has proved who they are, and records it.
 * @returns its token.
 * @throws {GanglionError} `no_role`
 */
export async function admit(
  ganglion: Ganglion,
  user: Pick<User, 'id' | 'email' | 'name'>,
  client: Client,
  { detail, tenantId }: { detail: string; tenantId?: string | undefined },
): Promise<string> {
  const begun = await startSession(ganglion, user.id, client, tenantId)
  if (begun === undefined) throw new GanglionError('no_role')
  const act = { action: 'user.signed-in', subject: user.email, detail }
  await ganglion.audit.record(begun.tenantId, { ...byPerson({ user }, client.address), ...act }, ganglion.now())
  return begun.token
}
