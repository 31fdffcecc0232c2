import type { FastifyReply, FastifyRequest } from 'fastify'
import { GanglionError } from '../contract/errors.ts'
import type { Role } from '../contract/vocabulary.ts'
import type { Caller } from '../services/caller.ts'
import type { Services } from './services.ts'

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | undefined
  }
  interface FastifyContextConfig {
    /** Roles that may use the route; without it, every role. */
    roles?: readonly Role[]
  }
}

/** How a request says who sends it. */
export type Scheme = {
  /** Reads the token from the header `authorization`. */
  tokenOf(authorization: string | undefined): string | undefined
  /** For the header `www-authenticate`. */
  challenge: string
}

/** A hook that lets in whom the request's token speaks for, before the body is read. Throws `invalid_token`. */
export function authenticate(
  services: Pick<Services, 'authenticate'>,
  { tokenOf, challenge }: Scheme = { tokenOf: bearerToken, challenge: 'Bearer' },
): (request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  return async (request, reply) => {
    const token = tokenOf(request.headers.authorization)
    request.caller = token === undefined ? undefined : await services.authenticate(token)
    if (request.caller !== undefined) return
    reply.header('www-authenticate', challenge)
    throw new GanglionError('invalid_token')
  }
}

/** A hook after {@link authenticate}. Throws `insufficient_role`. */
export async function requireRole(request: FastifyRequest): Promise<void> {
  const { roles } = request.routeOptions.config
  if (roles !== undefined && !roles.includes(callerOf(request).role)) throw new GanglionError('insufficient_role')
}

/** Who asks. Throws `invalid_token` where nobody was let in. */
export function callerOf({ caller }: FastifyRequest): Caller {
  if (caller === undefined) throw new GanglionError('invalid_token')
  return caller
}

/** RFC 6750, section 2.1; the scheme's name is case-insensitive. */
export function bearerToken(authorization: string | undefined): string | undefined {
  return /^Bearer +([A-Za-z0-9._~+/-]{1,512}=*)$/i.exec(authorization ?? '')?.[1]
}
