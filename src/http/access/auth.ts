import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { AppContext } from '../../app/open-context.ts'
import { GanglionError } from '../../contract/errors.ts'
import { type PersonRole, type Role, reaches } from '../../contract/vocabulary.ts'
import type { Context } from '../../kb/context.ts'
import type { Caller } from '../../rules/access/caller.ts'
import { requireFormToken } from './session-cookie.ts'

/** Basic authentication (RFC 7617), for which git asks the user for a password. A bearer token works as well. */
export const keyAsPassword: Scheme = {
  tokenOf: (authorization) => bearerToken(authorization) ?? passwordOf(authorization),
  challenge: 'Basic realm="Ganglion", charset="UTF-8"',
}

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | undefined
  }
  interface FastifyContextConfig {
    /** Roles that may use the route; without it, every role. */
    roles?: readonly Role[]
    /** Lowest role of a person who may use the route; without it, `roles` decides. */
    people?: PersonRole
  }
}

/** Scheme by which requests are authenticated. */
export type Scheme = {
  tokenOf(authorization: string | undefined): string | undefined
  /** Value of `WWW-Authenticate` in a 401 response. */
  challenge: string | ((request: FastifyRequest) => string)
  /** Resource for which tokens of agents are accepted, too. */
  audience?(request: FastifyRequest): string | undefined
}

/** Returns a hook that authenticates a request by its token before the body is read. Throws `invalid_token`. */
export function authenticate(
  ctx: AppContext,
  { tokenOf, challenge, audience }: Scheme = { tokenOf: bearerToken, challenge: 'Bearer' },
): (request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  return async (request, reply) => {
    const token = tokenOf(request.headers.authorization)
    request.caller = token === undefined ? undefined : await authenticateKey(ctx, token, audience?.(request))
    if (request.caller !== undefined) return
    reply.header('www-authenticate', typeof challenge === 'string' ? challenge : challenge(request))
    throw new GanglionError('invalid_token')
  }
}

/**
 * Returns a hook that authenticates a request by a bearer key or, without an `Authorization` header, a person by the session's cookie. A
 * person's writes must come from a page of this server and have the session's token in the header `x-csrf-token`.
 * @throws {GanglionError} `invalid_token`, `foreign_origin`, `stale_form`
 */
export function authenticateEither(
  ctx: AppContext,
  app: FastifyInstance,
): (request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  const authenticateKey = authenticate(ctx)
  return async (request, reply) => {
    if (request.headers.authorization === undefined) await app.sessions.read(request, reply)
    if (request.session === undefined) return authenticateKey(request, reply)
    app.sessions.requireSameOrigin(request)
    requireFormToken(request)
  }
}

/** Checks that an authenticated caller may use the route. @throws {GanglionError} `insufficient_role` */
export function requireRole(request: FastifyRequest): void {
  const { roles, people } = request.routeOptions.config
  if (request.session !== undefined && people !== undefined) {
    if (!reaches(request.session.role, people)) throw new GanglionError('insufficient_role')
    return
  }
  if (roles !== undefined && !roles.includes(callerOf(request).role)) throw new GanglionError('insufficient_role')
}

/**
 * True if the sender of a request still has the same rights, while a long response is sent. Meanwhile a key may be revoked, a session may
 * end, or a person may get another role.
 */
export async function isStillLetIn(request: FastifyRequest, ctx: AppContext, app: FastifyInstance): Promise<boolean> {
  const { session } = request
  if (session === undefined) {
    const token = bearerToken(request.headers.authorization)
    return token !== undefined && (await authenticateKey(ctx, token)) !== undefined
  }
  const now = await app.sessions.readAgain(request)
  return now !== undefined && now.tenant.id === session.tenant.id && now.role === session.role
}

/** Returns the authenticated caller. Throws `invalid_token` if there is none. */
export function callerOf({ caller }: FastifyRequest): Caller {
  if (caller === undefined) throw new GanglionError('invalid_token')
  return caller
}

/** Returns the token of a header (RFC 6750, section 2.1). The scheme's name is case-insensitive. */
export function bearerToken(authorization: string | undefined): string | undefined {
  return /^Bearer +([A-Za-z0-9._~+/-]{1,512}=*)$/i.exec(authorization ?? '')?.[1]
}

/**
 * Returns the caller of a key's token; undefined if it is malformed, unknown, expired or revoked.
 * @param resource also accepts an agent's token for this resource
 * @throws {GanglionError} `tenant_disabled`
 */
async function authenticateKey(
  { apiKeys, now }: Pick<Context, 'apiKeys' | 'now'>,
  token: string,
  resource?: string,
): Promise<Caller | undefined> {
  const own = await apiKeys.authenticate(token, now())
  const agent = own === undefined && resource !== undefined ? await apiKeys.authenticateAgent(token, now()) : undefined
  const key = own ?? (agent?.resource === resource ? agent : undefined)
  if (key === undefined) return undefined
  if (key.isTenantDisabled) throw new GanglionError('tenant_disabled')
  const { id, name, tenantId, role, isAdmin, connectors, git, audience } = key
  return { id: `key:${id}`, name, tenantId, role, isAdmin, connectors, git, ...(audience && { audience }) }
}

/** Returns the password of Basic credentials, or the user name if there is no password. */
function passwordOf(authorization: string | undefined): string | undefined {
  const credentials = /^Basic +([A-Za-z0-9+/]{1,2048}={0,2})$/i.exec(authorization ?? '')?.[1]
  if (credentials === undefined) return undefined
  const [user, password] = /^([^:]*):(.*)$/s.exec(Buffer.from(credentials, 'base64').toString('utf8'))?.slice(1) ?? []
  return bearerToken(`Bearer ${password || user}`)
}
