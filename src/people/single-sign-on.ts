import type { Transaction } from 'kysely'
import { GanglionError } from '../contract/errors.ts'
import { Email, PersonName } from '../contract/people.ts'
import { PersonRole } from '../contract/vocabulary.ts'
import type { Context } from '../kb/context.ts'
import { ApiKeys } from '../state/accounts/api-keys.ts'
import { Audit } from '../state/accounts/audit-store.ts'
import { OneTimeLinks } from '../state/accounts/one-time-links.ts'
import { Sessions } from '../state/accounts/sessions.ts'
import { type User, Users } from '../state/accounts/users.ts'
import type { Schema } from '../state/database/schema.ts'
import { inTransaction } from '../state/database/transaction.ts'
import type { Flow, IdentityProvider, IdentityProviderOptions, ProvenPerson } from './identity-provider.ts'
import type { Client } from './person-session.ts'
import { admit } from './sign-in.ts'

export function singleSignOn(ctx: Context, options: IdentityProviderOptions) {
  let known: IdentityProvider | undefined
  /** Returns the provider, which is loaded at the first sign-in with it. */
  const provider = async () => {
    const { IdentityProvider } = await import('./identity-provider.ts')
    known ??= new IdentityProvider(options)
    return known
  }
  /** Returns the redirect URI. `reachedAt`: origin of the request, used if the server has no configured URL. */
  const redirectUri = (reachedAt: string) => new URL(ctx.urls.signInCallback(), reachedAt)
  return {
    /** Returns the provider's URL to open, and the state that the browser must return. */
    begin: async (reachedAt: string) => (await provider()).begin(redirectUri(reachedAt).href),
    /** Signs in a returning person, with the query of the provider's redirect. Returns the token of the session. */
    async finish(reachedAt: string, query: string, flow: Flow, client: Client) {
      const callback = redirectUri(reachedAt)
      callback.search = query
      return signInProven(ctx, options, await (await provider()).finish(callback, flow), client)
    },
  }
}

/** Actor of role changes by the provider's groups. */
const actor = { id: 'single-sign-on', name: 'Single sign-on' }

/**
 * Signs in a person whom the identity provider has authenticated, with the role of their groups; without one they lose their role. If the
 * groups are unknown, they keep at least their present role. A person is identified by the provider's issuer and subject; only at their
 * first sign-in, by a verified e-mail.
 * @returns the token of the new session
 * @throws {GanglionError} `no_role`, `sign_in_failed`
 */
async function signInProven(
  ctx: Context,
  { roles, tenant: slug }: Pick<IdentityProviderOptions, 'roles' | 'tenant'>,
  person: ProvenPerson,
  client: Client,
): Promise<string> {
  const tenant = await ctx.tenants.find(slug)
  if (tenant === undefined) throw new GanglionError('no_role')
  const given = roleOf(person.groups ?? [], roles)
  const admitted = await inTransaction(ctx.database.db, async (transaction) => {
    const users = new Users(transaction)
    const known = (await users.findByIdentity(person)) ?? (await takeOver(transaction, person))
    const user = known ?? (given && (await join(users, person, ctx.now())))
    if (user === undefined) return undefined
    const before = (await users.memberships(user.id)).find(({ tenantId }) => tenantId === tenant.id)?.role
    const role = person.groups === undefined ? higher(before, given) : given
    if (before === role) return { user, role }
    if (role === undefined) {
      await users.removeRole(user.id, tenant.id)
      await new ApiKeys({ db: transaction, revision: ctx.database.revision }).revokeAgents(
        user.id,
        ctx.now(),
        tenant.id,
      )
    } else await users.setRole(user.id, tenant.id, role)
    const act = { action: 'user.role-changed', detail: `from ${before ?? 'none'} to ${role ?? 'none'}` }
    const entry = { actor, address: client.address, subject: user.email, ...act }
    await new Audit(transaction).record(tenant.id, entry, ctx.now())
    return { user, role }
  })
  if (admitted?.role === undefined) throw new GanglionError('no_role')
  const { user } = admitted
  if (user.disabledAt !== null) throw new GanglionError('sign_in_failed', 'Your account is disabled.')
  return admit(ctx, user, client, { detail: 'by single sign-on', tenantId: tenant.id })
}

function higher(...roles: (PersonRole | undefined)[]): PersonRole | undefined {
  return PersonRole.options.findLast((role) => roles.includes(role))
}

/** Returns the highest role granted by any of the groups. */
function roleOf(groups: readonly string[], roles: IdentityProviderOptions['roles']): PersonRole | undefined {
  return higher(...[...groups, '*'].map((group) => roles.get(group)))
}

/**
 * Links the user with the person's verified e-mail who has no provider yet. Somebody else may have created that user, so its password and
 * sessions end.
 */
async function takeOver(transaction: Transaction<Schema>, person: ProvenPerson): Promise<User | undefined> {
  const users = new Users(transaction)
  const known = person.email === undefined ? undefined : await users.findByEmail(emailOf(person))
  if (known === undefined) return undefined
  if (known.isLinked) throw new GanglionError('sign_in_failed', 'Your e-mail belongs to another account here.')
  await users.link(known.id, person)
  await users.setPassword(known.id, null)
  await new Sessions(transaction).endAll(known.id)
  await new OneTimeLinks(transaction).remove(known.id)
  return known
}

/** Creates a user. @throws {GanglionError} `sign_in_failed` if the provider does not assert a verified e-mail */
async function join(users: Users, person: ProvenPerson, now: Date): Promise<User | undefined> {
  const email = emailOf(person)
  const name = PersonName.safeParse(person.name ?? '').data ?? email.slice(0, email.indexOf('@'))
  const made = await users.create({ email, name, passwordHash: null }, now)
  if (made !== undefined) await users.link(made.id, person)
  return made
}

function emailOf({ email }: ProvenPerson): string {
  const { data } = Email.safeParse(email)
  if (data === undefined) {
    throw new GanglionError('sign_in_failed', 'Single sign-on does not say that your e-mail is verified.')
  }
  return data
}
