import { z } from 'zod'
import type { AppContext } from '../../app/open-context.ts'
import { callerOf } from '../../http/access/auth.ts'
import type { ZodFastify } from '../../http/zod-compilers.ts'
import { healthReports } from '../../operate/health-report.ts'
import { readOverview } from '../../operate/overview/read-overview.ts'
import { verifications } from '../../operate/verify/verifications.ts'
import { isFragment, send, visitOf } from '../layout/page-routes.ts'
import { forgesRoutes } from './forges-routes.ts'
import { healthPage, verification } from './health-page.ts'
import { kbLifeRoutes } from './kb-life-routes.ts'
import { kbSettingsRoutes } from './kb-settings-routes.ts'
import { keysRoutes } from './keys-routes.ts'
import { settingsPage } from './settings-page.ts'
import { webhooksRoutes } from './webhooks-routes.ts'

/** `exported`: what a knowledge base was exported to, that was deleted just now. */
const Query = z.object({
  exported: z
    .string()
    .regex(/^[\w-]{1,150}$/)
    .optional()
    .catch(undefined),
})

export function settingsRoutes(app: ZodFastify, ctx: AppContext): void {
  const config = { people: 'admin' } as const

  app.get('/settings', { config, schema: { querystring: Query } }, async (request, reply) => {
    const caller = callerOf(request)
    const kbs = await readOverview(ctx, caller)
    const disabled = (await ctx.knowledgeBases.all(caller.tenantId)).filter(({ disabledAt }) => disabledAt !== null)
    return send(reply, settingsPage(visitOf(request), { kbs, disabled, ...request.query }))
  })

  app.get('/settings/health', { config }, async (request, reply) => {
    const report = await healthReports(ctx).read(callerOf(request))
    const visit = visitOf(request)
    const now = new Date()
    if (isFragment(request)) return send(reply, verification(visit, report.verification, now))
    return send(reply, healthPage(visit, report, now))
  })

  app.post('/settings/health/verify', { config }, async (request, reply) => {
    await verifications(ctx).start(callerOf(request))
    return reply.redirect('/settings/health', 303)
  })

  forgesRoutes(app, ctx)
  keysRoutes(app, ctx)
  webhooksRoutes(app, ctx)
  kbSettingsRoutes(app, ctx)
  kbLifeRoutes(app, ctx)
}
