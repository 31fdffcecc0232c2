import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'
import type { Context } from '../../kb/context.ts'

/**
 * Returns the URL at which agents reach the server, without a trailing slash: the configured one, else the requested address of this
 * machine. Undefined for any other name, which proves nothing.
 */
export function agentAddress(
  { protocol, host }: Pick<FastifyRequest, 'protocol' | 'host'>,
  { urls }: Pick<Context, 'urls'>,
): string | undefined {
  if (urls.base !== '') return urls.base
  const url = URL.parse(`${protocol}://${host}`)
  if (url === null) return undefined
  return url.hostname === 'localhost' || isIP(url.hostname.replace(/^\[|\]$/g, '')) !== 0 ? url.origin : undefined
}

/** Returns the resource that a token for agents is valid for (RFC 8707). */
export function audienceOf(address: string): string {
  return `${address}/mcp`
}

/** Returns the location of the resource's metadata for the header `WWW-Authenticate` (RFC 9728, section 5.1). */
export function agentChallenge(address: string | undefined): string {
  if (address === undefined) return 'Bearer'
  return `Bearer resource_metadata="${address}/.well-known/oauth-protected-resource/mcp"`
}
