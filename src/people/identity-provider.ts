import {
  AuthorizationResponseError,
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type Configuration,
  calculatePKCECodeChallenge,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client'
import { z } from 'zod'
import { GanglionError } from '../contract/errors.ts'
import type { PersonRole } from '../contract/vocabulary.ts'

export type IdentityProviderOptions = {
  issuer: string
  clientId: string
  clientSecret: string
  /** Roles by group; `*` applies to everybody. */
  roles: ReadonlyMap<string, PersonRole>
  /** Name of the claim that lists a person's groups. */
  groupsClaim: string
  /** OAuth scopes to request, separated by spaces. */
  scope: string
  /** Slug of the tenant in which roles are granted. */
  tenant: string
  /** Entra ID's id of a tenant (`tid`) whose e-mails count as verified if the provider does not assert it. */
  trustedTenant?: string | undefined
}

/** State that the browser must return with the authorization response (state, nonce, PKCE verifier). */
export type Flow = { state: string; nonce: string; verifier: string }

export type ProvenPerson = {
  issuer: string
  subject: string
  /** Verified e-mail address. Undefined if the provider does not assert that it is verified. */
  email: string | undefined
  name: string | undefined
  /** Groups of the person. Undefined if the provider has too many to list. */
  groups: string[] | undefined
}

/** Timeout of the provider's answers, in seconds. */
const timeout = 10

const Claims = z.looseObject({
  iss: z.string().optional(),
  sub: z.string(),
  tid: z.string().optional().catch(undefined),
  email: z.string().optional().catch(undefined),
  // A value that is not a boolean counts as false, not as absent.
  email_verified: z.boolean().optional().catch(false),
  name: z.string().optional().catch(undefined),
  preferred_username: z.string().optional().catch(undefined),
  _claim_names: z.record(z.string(), z.unknown()).optional().catch(undefined),
})
type Answer = z.output<typeof Claims>
const Groups = z.union([z.array(z.string()), z.string().transform((group) => [group])]).catch([])

/** OpenID Connect provider, used with the authorization code flow with PKCE. Its endpoints are discovered at first use. */
export class IdentityProvider {
  readonly #options: IdentityProviderOptions
  #configuration: Promise<Configuration> | undefined

  constructor(options: IdentityProviderOptions) {
    this.#options = options
  }

  /** Starts the authorization code flow and returns the provider's URL to open. @throws {GanglionError} `provider_unavailable` */
  async begin(redirectUri: string): Promise<{ url: string; flow: Flow }> {
    const configuration = await this.#discover()
    const flow = { state: randomState(), nonce: randomNonce(), verifier: randomPKCECodeVerifier() }
    const url = buildAuthorizationUrl(configuration, {
      redirect_uri: redirectUri,
      scope: this.#options.scope,
      state: flow.state,
      nonce: flow.nonce,
      code_challenge: await calculatePKCECodeChallenge(flow.verifier),
      code_challenge_method: 'S256',
    })
    return { url: url.href, flow }
  }

  /**
   * Completes the flow and returns the verified identity. `callback`: the full redirect URL, with its query.
   * @throws {GanglionError} `provider_unavailable`, `sign_in_failed`
   */
  async finish(callback: URL, flow: Flow): Promise<ProvenPerson> {
    const configuration = await this.#discover()
    try {
      return await this.#prove(configuration, callback, flow)
    } catch (cause) {
      throw refusalFor(cause)
    }
  }

  async #prove(configuration: Configuration, callback: URL, { state, nonce, verifier }: Flow): Promise<ProvenPerson> {
    const tokens = await authorizationCodeGrant(configuration, callback, {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
    })
    const token = Claims.parse(tokens.claims())
    const { userinfo_endpoint: endpoint, issuer } = configuration.serverMetadata()
    const info =
      endpoint === undefined ? [] : [Claims.parse(await fetchUserInfo(configuration, tokens.access_token, token.sub))]
    const answers = [token, ...info]
    return {
      // The issuer of the token: the metadata of a multi-tenant issuer contain a placeholder.
      issuer: token.iss ?? issuer,
      subject: token.sub,
      email: answers.find((answer) => this.#vouches(answer))?.email,
      name: answers.flatMap(({ name, preferred_username }) => name ?? preferred_username ?? [])[0],
      groups: groupsIn(answers, this.#options.groupsClaim),
    }
  }

  /**
   * True if a single response contains both the e-mail and `email_verified`. Claims from different responses must never be combined: they
   * may describe different addresses.
   */
  #vouches({ email, email_verified: isVerified, tid }: Answer): boolean {
    const { trustedTenant } = this.#options
    return email !== undefined && (isVerified ?? (tid !== undefined && tid === trustedTenant))
  }

  async #discover(): Promise<Configuration> {
    const { issuer, clientId, clientSecret } = this.#options
    const server = new URL(issuer)
    const execute = [enableNonRepudiationChecks, ...(server.protocol === 'http:' ? [allowInsecureRequests] : [])]
    this.#configuration ??= discovery(server, clientId, clientSecret, undefined, { execute, timeout })
    try {
      return await this.#configuration
    } catch (cause) {
      this.#configuration = undefined
      throw Object.assign(new GanglionError('provider_unavailable'), { cause })
    }
  }
}

/**
 * Returns the groups, or undefined if the claim is only referenced (OpenID Connect Core 1.0, section 5.6.2), as Entra ID does for more than
 * 200 groups.
 */
function groupsIn(answers: readonly Answer[], claim: string): string[] | undefined {
  const given = answers.find((answer) => answer[claim] !== undefined)
  if (given !== undefined) return Groups.parse(given[claim])
  return answers.some(({ _claim_names: names }) => names !== undefined && claim in names) ? undefined : []
}

function refusalFor(cause: unknown): GanglionError {
  const wasCancelled = cause instanceof AuthorizationResponseError && cause.error === 'access_denied'
  const message = wasCancelled
    ? 'You did not finish signing in there.'
    : 'Single sign-on gave an answer that does not hold. Try again.'
  return Object.assign(new GanglionError('sign_in_failed', message), { cause })
}
