import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AppContext } from '../../app/open-context.ts'
import { GanglionError } from '../../contract/errors.ts'
import type { Limits } from '../access/rate-limits.ts'
import type { ZodFastify } from '../zod-compilers.ts'
import { agentAddress, audienceOf } from './agent-address.ts'
import { agentScopes, authorizationServer, oauthPaths } from './authorization-server.ts'

const metadata = '/.well-known/oauth-authorization-server'
const { authorization, ...others } = oauthPaths
/** Maximum requests of one address per minute. */
const maxRequests = 60

/** Adds OAuth 2.1 for agents: metadata (RFC 9728, RFC 8414), registration (RFC 7591), authorization with PKCE, tokens and revocation (RFC 7009). */
export function oauthRoutes(app: ZodFastify, ctx: AppContext, limits: Limits): void {
  // The library parses bodies itself.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_, __, done) => done(null))
  app.addHook('onRequest', (request, reply) =>
    limits.countNetwork(request, reply, { name: 'oauth', most: maxRequests }),
  )

  for (const url of ['/.well-known/oauth-protected-resource', '/.well-known/oauth-protected-resource/*']) {
    app.get(url, async (request, reply) => {
      const address = addressOf(request)
      return reply.header('access-control-allow-origin', '*').send({
        resource: audienceOf(address),
        authorization_servers: [address],
        scopes_supported: agentScopes,
        bearer_methods_supported: ['header'],
        resource_name: 'Ganglion',
      })
    })
  }
  // Clients also look for the metadata at the root of the host, followed by the path prefix.
  for (const url of [metadata, '/.well-known/openid-configuration'].flatMap((path) => [path, `${path}/*`])) {
    app.route({
      method: ['GET', 'OPTIONS'],
      url,
      handler: (request, reply) => answer(request, reply, metadata),
    })
  }
  for (const url of Object.values(others)) {
    app.route({
      method: ['GET', 'POST', 'OPTIONS'],
      url,
      handler: (request, reply) => answer(request, reply, request.url),
    })
  }
  app.get(authorization, (request, reply) => {
    // Each authorization starts without a session of the library, so that the person signed in to the console now is asked.
    delete request.raw.headers.cookie
    const { search } = new URL(request.url, 'http://localhost')
    const query = new URLSearchParams(search)
    if (!query.get('scope')) query.set('scope', agentScopes.join(' '))
    return answer(request, reply, `${authorization}?${query}`)
  })
  app.get(`${authorization}/:uid`, (request, reply) => answer(request, reply, request.url))

  function addressOf(request: FastifyRequest): string {
    const address = agentAddress(request, ctx)
    if (address === undefined) throw new GanglionError('not_found')
    return address
  }

  /** Passes a request to the library as if it had come to the public URL. */
  async function answer(request: FastifyRequest, reply: FastifyReply, url: string): Promise<void> {
    const address = addressOf(request)
    const provider = await authorizationServer(ctx, address)
    const { protocol, host } = new URL(address)
    const { raw } = request
    Object.assign(raw.headers, { host, 'x-forwarded-host': host, 'x-forwarded-proto': protocol.slice(0, -1) })
    Object.assign(raw, { url, originalUrl: ctx.urls.root + url })
    reply.hijack()
    for (const [name, value] of Object.entries(reply.getHeaders()))
      if (value !== undefined) reply.raw.setHeader(name, value)
    await provider.callback()(raw, reply.raw)
  }
}
