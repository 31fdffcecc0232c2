import type { PersonRole } from '../contract/vocabulary.ts'
import { listAudit } from '../kb/access/audit.ts'
import type { Context } from '../kb/context.ts'
import { changeName, changePassword, endOwnSession, readAccount, signOut, switchTenant } from './account.ts'
import type { Flow, IdentityProvider, IdentityProviderOptions } from './identity-provider.ts'
import { makeAdministrator, type NewAdministrator, readLink, setPasswordByLink } from './links.ts'
import {
  administratorOf,
  changePerson,
  changeRole,
  invitePerson,
  listPeople,
  makeResetLink,
  type PersonChange,
} from './manage-people.ts'
import type { Client, Session } from './session.ts'
import { rememberDevice, signIn } from './sign-in.ts'
import { signInProven } from './single-sign-on.ts'

export type PeopleServices = ReturnType<typeof peopleServices>

/** What people do about themselves, and administrators about them. The latter throw `insufficient_role` for others. */
export function peopleServices(ctx: Context, identityProvider?: IdentityProviderOptions) {
  const admin = (session: Session, { address }: Client) => administratorOf(session, address)
  return {
    /** Undefined where no identity provider is configured. */
    singleSignOn: identityProvider && singleSignOn(ctx, identityProvider),
    signIn: (given: { email: string; password: string }, client: Client) => signIn(ctx, given, client),
    rememberDevice: (token: string) => rememberDevice(ctx, token),
    signOut: (session: Session, client: Client) => signOut(ctx, session, client),
    readLink: (token: string) => readLink(ctx, token),
    makeAdministrator: (token: string, given: NewAdministrator, client: Client) =>
      makeAdministrator(ctx, token, given, client),
    setPasswordByLink: (token: string, password: string, client: Client) =>
      setPasswordByLink(ctx, token, password, client),
    readAccount: (session: Session) => readAccount(ctx, session),
    changeName: (session: Session, name: string, client: Client) => changeName(ctx, session, name, client),
    changePassword: (session: Session, given: Parameters<typeof changePassword>[2], client: Client) =>
      changePassword(ctx, session, given, client),
    switchTenant: (session: Session, tenantId: string) => switchTenant(ctx, session, tenantId),
    endOwnSession: (session: Session, id: string) => endOwnSession(ctx, session, id),
    listPeople: (session: Session, client: Client, after?: string) => listPeople(ctx, admin(session, client), after),
    /** Gives the URL of the link, relative if the server does not know where it is reached. */
    async invitePerson(session: Session, client: Client, person: { email: string; name: string; role: PersonRole }) {
      return ctx.urls.setUp(await invitePerson(ctx, admin(session, client), person))
    },
    changeRole: (session: Session, client: Client, userId: string, role: PersonRole | 'none') =>
      changeRole(ctx, admin(session, client), userId, role),
    changePerson: (session: Session, client: Client, userId: string, change: PersonChange) =>
      changePerson(ctx, admin(session, client), userId, change),
    /** Gives the person's e-mail and the URL of the link, as above. */
    async makeResetLink(session: Session, client: Client, userId: string) {
      const { email, token } = await makeResetLink(ctx, admin(session, client), userId)
      return { email, url: ctx.urls.setUp(token) }
    },
    listAudit: (session: Session, client: Client, before?: number) =>
      listAudit(ctx, admin(session, client).tenantId, before),
  }
}

function singleSignOn(ctx: Context, options: IdentityProviderOptions) {
  let known: IdentityProvider | undefined
  /** Loaded with the first person who signs in so. */
  const provider = async () => {
    const { IdentityProvider } = await import('./identity-provider.ts')
    known ??= new IdentityProvider(options)
    return known
  }
  /** `reachedAt`: where the server is reached, if it does not know that itself. */
  const redirectUri = (reachedAt: string) => new URL(ctx.urls.signInCallback(), reachedAt)
  return {
    /** Where the browser goes, and what it must bring back. */
    begin: async (reachedAt: string) => (await provider()).begin(redirectUri(reachedAt).href),
    /** Signs in who comes back, with the query that the provider answered with. Gives the token of the session. */
    async finish(reachedAt: string, query: string, flow: Flow, client: Client) {
      const callback = redirectUri(reachedAt)
      callback.search = query
      return signInProven(ctx, options, await (await provider()).finish(callback, flow), client)
    },
  }
}
