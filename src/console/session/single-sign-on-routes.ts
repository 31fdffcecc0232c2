import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { GanglionError } from '../../contract/errors.ts'
import { clientAddress } from '../../http/access/session-cookie.ts'
import type { ZodFastify } from '../../http/zod-compilers.ts'
import type { SingleSignOn } from '../../people/single-sign-on.ts'
import { nextPath } from './next-path.ts'
import { refuseSignIn } from './refuse-sign-in.ts'

const BeginQuery = z.looseObject({ next: z.string().optional() })
/** What the browser keeps while the person is at the provider. */
const Kept = z.object({ state: z.string(), nonce: z.string(), verifier: z.string(), next: z.string() })

export function singleSignOnRoutes(
  app: ZodFastify,
  singleSignOn: SingleSignOn,
  enter: (request: FastifyRequest, reply: FastifyReply, token: string) => Promise<void>,
): void {
  // A link, not a form: the policy for content lets forms lead nowhere but to this server.
  app.get('/sign-in/oidc', { schema: { hide: true, querystring: BeginQuery } }, async (request, reply) => {
    const next = nextPath(request.query.next)
    try {
      const { url, flow } = await singleSignOn.begin(reachedAt(request))
      app.sessions.keep(reply, JSON.stringify({ ...flow, next }))
      return reply.redirect(url, 303)
    } catch (error) {
      return refuseSignIn(request, reply, error, { next, hasSingleSignOn: true })
    }
  })

  app.get('/sign-in/oidc/callback', { schema: { hide: true } }, async (request, reply) => {
    const kept = readKept(app.sessions.takeBack(request, reply))
    const next = nextPath(kept?.next)
    try {
      if (kept === undefined) {
        throw new GanglionError('sign_in_failed', 'This browser did not begin to sign in, or took too long. Try again.')
      }
      const { search } = new URL(request.url, reachedAt(request))
      await enter(request, reply, await singleSignOn.finish(reachedAt(request), search, kept, clientAddress(request)))
      return reply.redirect(next, 303)
    } catch (error) {
      return refuseSignIn(request, reply, error, { next, hasSingleSignOn: true })
    }
  })
}

function reachedAt({ protocol, host }: FastifyRequest): string {
  return `${protocol}://${host}`
}

function readKept(text: string | undefined): z.output<typeof Kept> | undefined {
  try {
    return Kept.parse(JSON.parse(text ?? ''))
  } catch {
    return undefined
  }
}
