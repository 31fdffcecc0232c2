import { z } from 'zod'
import type { AppContext } from '../app/open-context.ts'
import { receiveDelivery } from '../forge/bridge/start-forges.ts'
import type { ZodFastify } from './zod-compilers.ts'

/** Maximum bytes of an event. Events of pull requests are far smaller, and a push with a larger event is noticed by polling. */
const bodyLimit = 5 * 1024 * 1024

/**
 * Adds the routes for webhooks of forges. A forge is authenticated only by its signature, which covers the exact bytes of the
 * body.
 */
export function forgeRoutes(app: ZodFastify, ctx: AppContext): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit }, (_request, body, done) => done(null, body))
  app.post(
    '/:link/events',
    { bodyLimit, schema: { params: z.object({ link: z.string() }) } },
    async ({ params, headers, body }, reply) => {
      await receiveDelivery(ctx, process.env, params.link, {
        headers,
        body: Buffer.isBuffer(body) ? body : Buffer.alloc(0),
      })
      return reply.code(202).send()
    },
  )
}
