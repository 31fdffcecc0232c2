import { callerOf } from '../../http/access/auth.ts'
import type { Services } from '../../http/services.ts'
import type { ZodFastify } from '../../http/zod-compilers.ts'
import { isFragment, send } from '../layout/send.ts'
import { visitOf } from '../layout/visit.ts'
import { forgesRoutes } from './forges-routes.ts'
import { healthPage, verification } from './health-page.ts'
import { kbSettingsRoutes } from './kb-settings-routes.ts'
import { keysRoutes } from './keys-routes.ts'
import { settingsPage } from './settings-page.ts'
import { webhooksRoutes } from './webhooks-routes.ts'

/** Adds the pages of administrators. */
export function settingsRoutes(app: ZodFastify, services: Services): void {
  const config = { people: 'admin' } as const
  const schema = { hide: true } as const

  app.get('/settings', { config, schema }, async (request, reply) => {
    const kbs = await services.readOverview(callerOf(request))
    return send(reply, settingsPage(visitOf(request), kbs))
  })

  app.get('/settings/health', { config, schema }, async (request, reply) => {
    const report = await services.readHealth(callerOf(request))
    const visit = visitOf(request)
    const now = new Date()
    if (isFragment(request)) return send(reply, verification(visit, report.verification, now))
    return send(reply, healthPage(visit, report, now))
  })

  app.post('/settings/health/verify', { config, schema }, async (request, reply) => {
    await services.startVerification(callerOf(request))
    return reply.redirect('/settings/health', 303)
  })

  forgesRoutes(app, services)
  keysRoutes(app, services)
  webhooksRoutes(app, services)
  kbSettingsRoutes(app, services)
}
