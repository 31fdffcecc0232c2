import { generateKeyPairSync } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Adapter, AdapterPayload, Configuration, Provider } from 'oidc-provider'
import { type Context, onePer } from '../../kb/context.ts'
import { hashedSecret, matchesSecret } from '../../state/accounts/secret.ts'
import { audienceOf } from './agent-address.ts'

type Ctx = Pick<Context, 'oauthRecords' | 'apiKeys' | 'urls' | 'now'>

/** Scopes that an agent may be granted. */
export const agentScopes = ['read', 'propose'] as const

/** Scopes that clients may request. Clients of OpenID Connect request the last two, which have no effect here. */
const knownScopes: ReadonlySet<string> = new Set([...agentScopes, 'openid', 'offline_access'])

/** Paths of the endpoints. A person returns from the consent page to the first one, followed by an id. */
export const oauthPaths = {
  authorization: '/oauth/authorize',
  token: '/oauth/token',
  registration: '/oauth/register',
  revocation: '/oauth/revoke',
  jwks: '/oauth/jwks',
} as const

/** Durations in seconds. */
const hour = 60 * 60
const day = 24 * hour
const year = 365 * day
/** Maximum number of addresses at which the server is reached; usually one. */
const maxServers = 8
/** Maximum characters of a client's registration, and maximum records of a kind that nobody has authorized. */
const maxClient = 8_000
const maxWaiting = 5_000

const serversOf = onePer((_: Ctx) => new LRUCache<string, Promise<Provider>>({ max: maxServers }))

/** Returns the authorization server for agents at an address. Its library is loaded at first use. */
export function authorizationServer(ctx: Ctx, address: string): Promise<Provider> {
  const servers = serversOf(ctx)
  const known = servers.get(address)
  if (known !== undefined) return known
  const made = createServer(ctx, address)
  servers.set(address, made)
  // The next request tries again.
  made.catch(() => servers.delete(address))
  return made
}

async function createServer(ctx: Ctx, address: string): Promise<Provider> {
  const { default: Provider, errors, interactionPolicy } = await import('oidc-provider')
  const audience = audienceOf(address)
  const configuration: Configuration = {
    adapter: (model: string) =>
      adapterOf(ctx, model, {
        used: () => new errors.InvalidGrant('already used'),
        large: () => new errors.InvalidClientMetadata(`the client has more than ${maxClient} characters`),
      }),
    // Clients name URLs to fetch, and anybody can register a client.
    fetch: () => Promise.reject(new Error('nothing is fetched for clients')),
    findAccount: (_, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
    routes: oauthPaths,
    scopes: [...agentScopes],
    responseTypes: ['code'],
    pkce: { required: () => true },
    rotateRefreshToken: true,
    issueRefreshToken: () => true,
    expiresWithSession: () => false,
    clientBasedCORS: () => true,
    // Allows both https and, on the person's own machine, http with any port (RFC 8252).
    clientDefaults: {
      application_type: 'native',
      grant_types: ['authorization_code', 'refresh_token'],
      id_token_signed_response_alg: 'ES256',
      token_endpoint_auth_method: 'none',
    },
    clientAuthMethods: ['none', 'client_secret_basic', 'client_secret_post'],
    // A server must have keys, although no scope issues an ID token and nothing is signed with them.
    jwks: { keys: [generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' })] },
    // Cookies are not signed: each contains a random id that the database knows by its hash, and a signing key would be in every backup.
    cookies: {
      names: { session: 'ganglion-agent', interaction: 'ganglion-agent-consent', resume: 'ganglion-agent-resume' },
    },
    interactions: {
      policy: interactionPolicy.base(),
      url: (_, { uid }) => `${ctx.urls.root}/oauth/consent/${uid}`,
    },
    ttl: {
      ...{ AccessToken: hour, AuthorizationCode: 60, RefreshToken: 30 * day, Grant: year },
      ...{ Interaction: hour, Session: hour, IdToken: hour },
    },
    features: {
      devInteractions: { enabled: false },
      userinfo: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      revocation: { enabled: true },
      // No endpoint accepts a registration token, which would never expire.
      registration: { enabled: true, issueRegistrationAccessToken: false },
      // `/mcp` does not check proof of possession.
      dPoP: { enabled: false },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => audience,
        useGrantedResource: () => true,
        getResourceServerInfo: ({ oidc }, resource) => {
          if (resource.replace(/\/$/, '') !== audience) throw new errors.InvalidTarget()
          const unknown = String(oidc.params?.scope ?? 'read')
            .split(' ')
            .find((scope) => !knownScopes.has(scope))
          if (unknown !== undefined) throw new errors.InvalidScope('requested scope is not allowed', unknown)
          return { scope: agentScopes.join(' '), audience, accessTokenFormat: 'opaque', accessTokenTTL: hour }
        },
      },
    },
    renderError: (context, { error, error_description: description }) => {
      context.type = 'text/plain'
      context.body = `${error}: ${description ?? 'The request of the agent cannot be served.'}\n`
    },
  }
  const provider = new Provider(address, configuration)
  provider.proxy = true
  provider.Client.prototype.compareClientSecret = function (this: { clientSecret?: string }, actual) {
    return matchesSecret(actual, this.clientSecret ?? '')
  }
  return provider
}

/** Returns the library's storage adapter. Ids are stored as hashes, see `OauthRecords`; no payload contains the id itself. */
function adapterOf(
  { oauthRecords, apiKeys, now }: Ctx,
  model: string,
  failure: { used(): Error; large(): Error },
): Adapter {
  return {
    async upsert(id, { jti: _, ...given }, expiresIn) {
      if (model === 'Client' && JSON.stringify(given).length > maxClient) throw failure.large()
      const payload = withoutSecret(given)
      // A client that nobody authorizes expires.
      const seconds = expiresIn ?? (model === 'Client' ? day : undefined)
      const expiresAt = seconds === undefined ? null : new Date(now().getTime() + 1000 * seconds)
      await oauthRecords.put(model, id, { payload, grantId: payload.grantId ?? null, expiresAt })
      if (model === 'Client' || model === 'Interaction') await oauthRecords.trim(model, maxWaiting)
    },
    async find(id) {
      const found = await oauthRecords.find(model, id, now())
      if (found === undefined) return undefined
      const payload = withoutSecret(found.payload)
      return { ...payload, ...(model !== 'Client' && { jti: id }), ...(found.isConsumed && { consumed: true }) }
    },
    findByUid: async () => undefined,
    findByUserCode: async () => undefined,
    async consume(id) {
      if (!(await oauthRecords.consume(model, id, now()))) throw failure.used()
    },
    async destroy(id) {
      await oauthRecords.remove(model, id)
      if (model === 'Grant') await apiKeys.revokeGrant(id, now())
    },
    revokeByGrantId: (grantId) => oauthRecords.removeGrant(grantId),
  }
}

/** Returns a record whose secret is a hash. Nodes of version 0.1.0 keep the secrets of their clients in clear. */
function withoutSecret(payload: AdapterPayload): AdapterPayload {
  const { client_secret: secret } = payload
  return typeof secret === 'string' ? { ...payload, client_secret: hashedSecret(secret) } : payload
}
