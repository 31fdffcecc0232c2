import type { AppContext } from '../../src/app/open-context.ts'
import type { PersonRole } from '../../src/contract/vocabulary.ts'
import { formTokenOf } from '../../src/http/access/session-cookie.ts'
import { openSession, startSession } from '../../src/people/person-session.ts'

export type SignedIn = {
  userId: string
  token: string
  /** Headers of a browser that is signed in, without TLS, and of its pages. */
  headers: { cookie: string; 'sec-fetch-site': string; 'x-csrf-token': string }
}

/** Makes a person with a role in a tenant, unless there is one of that e-mail, and signs them in. */
export async function signIn(
  ctx: AppContext,
  tenant: string,
  role: PersonRole,
  { email = `${role}@example.com`, name = `Some ${role}` } = {},
): Promise<SignedIn> {
  const { users, tenants, now } = ctx
  const { id: tenantId } = await tenants.ensure(tenant, now())
  const user = (await users.findByEmail(email)) ?? (await users.create({ email, name, passwordHash: null }, now()))
  if (user === undefined) throw new Error(`no user ${email}`)
  await users.setRole(user.id, tenantId, role)
  const begun = await startSession(ctx, user.id, { address: '127.0.0.1', agent: 'test' }, tenantId)
  const token = begun?.token ?? ''
  const formSecret = (await openSession(ctx, token))?.formSecret
  if (formSecret === undefined) throw new Error('no session')
  const headers = {
    cookie: `ganglion=${token}`,
    'sec-fetch-site': 'same-origin',
    'x-csrf-token': formTokenOf({ formSecret }),
  }
  return { userId: user.id, token, headers }
}
