import { z } from 'zod'
import type { Services } from './services.ts'
import type { ZodFastify } from './zod-compilers.ts'

/** Bytes. What forges send of a pull request is far less; a larger push is heard of by polling. */
const bodyLimit = 5 * 1024 * 1024

/** Adds what forges call when something happens there. Only the signature says who calls, and it is made of the very bytes. */
export function forgeRoutes(app: ZodFastify, services: Pick<Services, 'hearForge'>): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit }, (_request, body, done) => done(null, body))
  app.post(
    '/:link/events',
    { bodyLimit, schema: { hide: true, params: z.object({ link: z.string() }) } },
    async ({ params, headers, body }, reply) => {
      await services.hearForge(params.link, { headers, body: Buffer.isBuffer(body) ? body : Buffer.alloc(0) })
      return reply.code(202).send()
    },
  )
}
