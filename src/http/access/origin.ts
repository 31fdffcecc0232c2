import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { GanglionError } from '../../contract/errors.ts'

/**
 * Returns a hook that rejects requests from pages of other sites, as the Model Context Protocol requires (Streamable HTTP, security): a
 * request with an `Origin` other than the server's own throws `foreign_origin`. Programs send no `Origin`.
 */
export function refuseForeignOrigin(publicUrl: string | undefined): (request: FastifyRequest) => Promise<void> {
  const publicOrigin = publicUrl === undefined ? undefined : URL.parse(publicUrl)?.origin
  return async ({ headers: { origin, host } }) => {
    if (origin === undefined) return
    const url = URL.parse(origin)
    if (url === null || !(url.origin === publicOrigin || isOriginOfHost(url, host))) {
      throw new GanglionError('foreign_origin')
    }
  }
}

/**
 * True if an origin is that of the request's host. A name in `Host` proves nothing: an attacker can make the name of their page resolve to
 * this server (DNS rebinding).
 */
function isOriginOfHost(origin: URL, host: string | undefined): boolean {
  const isHttp = origin.protocol === 'http:' || origin.protocol === 'https:'
  if (!isHttp || URL.parse(`${origin.protocol}//${host}`)?.host !== origin.host) return false
  return origin.hostname === 'localhost' || isIP(origin.hostname.replace(/^\[|\]$/g, '')) !== 0
}
