import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { GanglionError } from '../../contract/errors.ts'

/**
 * A hook that keeps out the pages of other sites, as the Model Context Protocol demands of its servers (Streamable HTTP,
 * security): a request with an `Origin` that is not the server's own throws `foreign_origin`. A program sends none.
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

/** `Host` proves nothing where it is a name: a page can have its own name lead to this server (DNS rebinding). */
function isOriginOfHost(origin: URL, host: string | undefined): boolean {
  const isHttp = origin.protocol === 'http:' || origin.protocol === 'https:'
  if (!isHttp || URL.parse(`${origin.protocol}//${host}`)?.host !== origin.host) return false
  return origin.hostname === 'localhost' || isIP(origin.hostname.replace(/^\[|\]$/g, '')) !== 0
}
