import { finished } from 'node:stream/promises'
import { KbUse } from '../../kb/open/kb-use.ts'
import type { ZodFastify } from '../zod-compilers.ts'

/** Keeps the knowledge bases of a request open until its handler and its answer have ended. For all routes that follow. */
export function holdKbs(app: ZodFastify): void {
  app.addHook('onRoute', (route) => {
    const { handler } = route
    route.handler = function (request, reply) {
      const use = new KbUse()
      const handled = use.run(() => handler.call(this, request, reply))
      void Promise.allSettled([handled, finished(reply.raw)]).then(() => use.end())
      return handled
    }
  })
}
