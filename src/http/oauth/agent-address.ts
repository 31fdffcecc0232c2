import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'
import type { Context } from '../../kb/context.ts'

/**
 * Where agents reach the server, without a slash at the end: what the operator says, else the address of this machine that was asked.
 * Undefined for another name, which proves nothing.
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

/** What a token for agents is for (RFC 8707). */
export function audienceOf(address: string): string {
  return `${address}/mcp`
}

/** Where the metadata of the resource is, for the header `www-authenticate` (RFC 9728, section 5.1). */
export function agentChallenge(address: string | undefined): string {
  if (address === undefined) return 'Bearer'
  return `Bearer resource_metadata="${address}/.well-known/oauth-protected-resource/mcp"`
}
