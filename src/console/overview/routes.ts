import { z } from 'zod'
import { readTestHistory } from '../../answer-tests/kept-runs.ts'
import type { AppContext } from '../../app/open-context.ts'
import { KbId } from '../../contract/identifiers.ts'
import { reaches } from '../../contract/vocabulary.ts'
import { activityKinds, readActivity } from '../../events/read-activity.ts'
import { callerOf } from '../../http/access/auth.ts'
import { formTokenPath } from '../../http/openapi.ts'
import type { ZodFastify } from '../../http/zod-compilers.ts'
import { readKbOverview, readOverview } from '../../operate/overview/read-overview.ts'
import { markTour, readTour } from '../../operate/overview/tour.ts'
import type { Caller } from '../../rules/access/caller.ts'
import type { Html } from '../layout/html-template.ts'
import type { Visit } from '../layout/page.ts'
import { filter, KbParams } from '../layout/page-query.ts'
import { isFragment, send, visitOf } from '../layout/page-routes.ts'
import { activityPage, activitySection } from './activity-page.ts'
import { findingsRoutes } from './findings-page.ts'
import { homePage, homeWork } from './home-page.ts'
import { kbHomePage } from './kb-home-page.ts'
import { tourPart, tourPath } from './tour-page.ts'

const kbsOnPage = 100
/** Events from which the last lines of a home page, or a page of lines, are made. */
const eventsRead = { home: 150, page: 200 }

const Count = z
  .string()
  .regex(/^[1-9][0-9]{0,14}$/, 'must be a number')
  .transform(Number)

const HomeQuery = z.object({ page: filter(Count) })
const ActivityQuery = z.object({
  kb: filter(KbId),
  kind: filter(z.enum(Object.keys(activityKinds) as (keyof typeof activityKinds)[])),
  before: filter(Count),
})
const TourForm = z.object({ step: z.enum(['read', 'search', 'dismissed']) })

export function overviewRoutes(app: ZodFastify, ctx: AppContext): void {
  app.get('/', { schema: { querystring: HomeQuery } }, async (request, reply) => {
    const caller = callerOf(request)
    const visit = visitOf(request)
    const all = await readOverview(ctx, caller)
    const pages = Math.max(1, Math.ceil(all.length / kbsOnPage))
    const number = Math.min(request.query.page ?? 1, pages)
    const kbs = all.slice((number - 1) * kbsOnPage, number * kbsOnPage)
    const view = { kbs, number, pages, latest: { items: [], older: null }, now: new Date() }
    if (isFragment(request)) return send(reply, homeWork(visit, view))
    const latest = await readActivity(ctx, caller, { limit: eventsRead.home })
    return send(reply, homePage(visit, { ...view, latest, tour: await tourOf(visit, caller) }))
  })

  app.get('/kb/:kb', { schema: { params: KbParams } }, async (request, reply) => {
    const caller = callerOf(request)
    const overview = await readKbOverview(ctx, caller, request.params.kb)
    const { slug } = overview
    const latest = overview.isBroken
      ? { items: [], older: null }
      : await readActivity(ctx, caller, { kb: slug, limit: eventsRead.home })
    const visit = visitOf(request)
    const isCurator = reaches(visit.session.role, 'curator') && !overview.isBroken
    const tests = isCurator ? await readTestHistory(ctx, caller, slug) : undefined
    const path = ctx.urls.clone(visit.session.tenant.slug, slug)
    const cloneUrl = new URL(path, `${request.protocol}://${request.host}`).href
    const tour = await tourOf(visit, caller, slug)
    return send(reply, kbHomePage(visit, { overview, latest, cloneUrl, tour, tests, now: new Date() }))
  })

  app.get('/activity', { schema: { querystring: ActivityQuery } }, async (request, reply) => {
    const caller = callerOf(request)
    const { kb, kind, before } = request.query
    const kbs = (await readOverview(ctx, caller)).map(({ slug, title }) => ({ slug, title }))
    const activity = await readActivity(ctx, caller, { kb, kind, before, limit: eventsRead.page })
    const view = { activity, kbs, kb, kind, before, now: new Date() }
    return send(reply, isFragment(request) ? activitySection(view) : activityPage(visitOf(request), view))
  })

  app.post('/tour', { config: { people: 'admin' }, schema: { body: TourForm } }, async (request, reply) => {
    const caller = callerOf(request)
    const { step } = request.body
    const tour = await readTour(ctx, caller)
    await markTour(ctx, caller, step)
    return reply.redirect(step === 'dismissed' || tour === undefined ? '/' : tourPath(tour, step), 303)
  })

  // For the description of the API, which is no page of ours.
  app.get(formTokenPath, async (request, reply) => reply.type('text/plain').send(visitOf(request).formToken))

  findingsRoutes(app, ctx)

  /** Renders the tour for an administrator, on the pages where it starts. */
  async function tourOf(visit: Visit, caller: Caller, kb?: string): Promise<Html | undefined> {
    if (!reaches(visit.session.role, 'admin')) return undefined
    const tour = await readTour(ctx, caller)
    return tour === undefined || (kb !== undefined && kb !== tour.kb) ? undefined : tourPart(visit, tour)
  }
}
