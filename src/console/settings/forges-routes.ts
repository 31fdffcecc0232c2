import { z } from 'zod'
import type { AppContext } from '../../app/open-context.ts'
import { listForgeLinks, unlinkForge } from '../../forge/bridge/manage-links.ts'
import { callerOf } from '../../http/access/auth.ts'
import type { ZodFastify } from '../../http/zod-compilers.ts'
import { send } from '../layout/send.ts'
import { visitOf } from '../layout/visit.ts'
import { forgesPage } from './forges-page.ts'

const Path = z.object({ kb: z.string().max(200) })
const Query = z.object({ done: z.enum(['unlinked']).optional().catch(undefined) })

export function forgesRoutes(app: ZodFastify, ctx: AppContext): void {
  const config = { people: 'admin' } as const

  app.get('/settings/forges', { config, schema: { hide: true, querystring: Query } }, async (request, reply) => {
    const links = await listForgeLinks(ctx, callerOf(request).tenantId)
    const notice = request.query.done && 'The link is gone. Both sides stay as they are.'
    return send(reply, forgesPage(visitOf(request), { links, now: new Date(), notice }))
  })

  app.post('/settings/forges/:kb/unlink', { config, schema: { hide: true, params: Path } }, async (request, reply) => {
    await unlinkForge(ctx, callerOf(request), request.params.kb)
    return reply.redirect('/settings/forges?done=unlinked', 303)
  })
}
