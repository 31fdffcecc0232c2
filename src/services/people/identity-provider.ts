import {
  AuthorizationResponseError,
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type Configuration,
  calculatePKCECodeChallenge,
  discovery,
  fetchUserInfo,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client'
import { z } from 'zod'
import { GanglionError } from '../../contract/errors.ts'
import type { PersonRole } from '../../contract/vocabulary.ts'

export type IdentityProviderOptions = {
  issuer: string
  clientId: string
  clientSecret: string
  /** Roles by group; `*` is everybody's. */
  roles: ReadonlyMap<string, PersonRole>
  /** Name of the claim that lists a person's groups. */
  groupsClaim: string
  /** What is asked for, separated by spaces. */
  scope: string
  /** Slug of the tenant that the roles are for. */
  tenant: string
}

/** What the browser must bring back with the provider's answer. */
export type Flow = { state: string; nonce: string; verifier: string }

/** A person, as the provider knows them. */
export type ProvenPerson = {
  issuer: string
  subject: string
  /** Undefined if the provider does not vouch for it. */
  email: string | undefined
  name: string | undefined
  groups: string[]
}

/** Seconds that the provider has for an answer. */
const timeout = 10

const Claims = z.looseObject({
  sub: z.string(),
  email: z.string().optional().catch(undefined),
  email_verified: z.boolean().optional().catch(undefined),
  name: z.string().optional().catch(undefined),
  preferred_username: z.string().optional().catch(undefined),
})
const Groups = z.union([z.array(z.string()), z.string().transform((group) => [group])]).catch([])

/** An OpenID Connect provider, by the authorization code flow with PKCE. It is asked for its addresses when it is first needed. */
export class IdentityProvider {
  readonly #options: IdentityProviderOptions
  #configuration: Promise<Configuration> | undefined

  constructor(options: IdentityProviderOptions) {
    this.#options = options
  }

  /** Where the browser goes to sign in. `redirectUri`: where it comes back to. @throws {GanglionError} `provider_unavailable` */
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
   * Who came back. `callback`: the URL that the provider sent the browser to.
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
    const { sub } = Claims.parse(tokens.claims())
    const { userinfo_endpoint: endpoint, issuer } = configuration.serverMetadata()
    const info = endpoint === undefined ? {} : await fetchUserInfo(configuration, tokens.access_token, sub)
    const claims = Claims.parse({ ...info, ...tokens.claims() })
    return {
      issuer,
      subject: sub,
      email: claims.email_verified === true ? claims.email : undefined,
      name: claims.name ?? claims.preferred_username,
      groups: Groups.parse(claims[this.#options.groupsClaim]),
    }
  }

  /** What fails is tried again the next time. */
  async #discover(): Promise<Configuration> {
    const { issuer, clientId, clientSecret } = this.#options
    const server = new URL(issuer)
    const execute = server.protocol === 'http:' ? [allowInsecureRequests] : []
    this.#configuration ??= discovery(server, clientId, clientSecret, undefined, { execute, timeout })
    try {
      return await this.#configuration
    } catch (cause) {
      this.#configuration = undefined
      throw Object.assign(new GanglionError('provider_unavailable'), { cause })
    }
  }
}

function refusalFor(cause: unknown): GanglionError {
  const wasCancelled = cause instanceof AuthorizationResponseError && cause.error === 'access_denied'
  const message = wasCancelled
    ? 'You did not finish signing in there.'
    : 'Single sign-on gave an answer that does not hold. Try again.'
  return Object.assign(new GanglionError('sign_in_failed', message), { cause })
}
