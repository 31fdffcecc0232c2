import { finished } from 'node:stream/promises'
import { KbUse } from '../../kb/open/kb-use.ts'
import { clientNetwork } from '../../rules/access/client-network.ts'
import { runFor } from '../../system/concurrency/present-caller.ts'
import type { ZodFastify } from '../zod-compilers.ts'

/**
 * Keeps the knowledge bases of a request open until its handler and its answer have ended, and records its caller. Applies to all routes
 * added later.
 */
export function holdKbs(app: ZodFastify): void {
  app.addHook('onRoute', (route) => {
    const { handler } = route
    route.handler = function (request, reply) {
      const use = new KbUse()
      const caller = request.caller?.id ?? clientNetwork(request.ip)
      const handled = runFor(caller, () => use.run(() => handler.call(this, request, reply)))
      void Promise.allSettled([handled, finished(reply.raw)]).then(() => use.end())
      return handled
    }
  })
}
