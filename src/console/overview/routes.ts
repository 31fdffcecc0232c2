import { z } from 'zod'
import { readTestHistory } from '../../answer-tests/kept-runs.ts'
import type { AppContext } from '../../app/open-context.ts'
import { KbId } from '../../contract/identifiers.ts'
import { reaches } from '../../contract/vocabulary.ts'
import { activityKinds, readActivity } from '../../events/read-activity.ts'
import { formTokenPath } from '../../http/openapi.ts'
import type { ZodFastify } from '../../http/zod-compilers.ts'
import { readKbOverview, readOverview } from '../../operate/overview/read-overview.ts'
import { markTour, readTour } from '../../operate/overview/tour.ts'
import type { Caller } from '../../rules/access/caller.ts'
import type { Html } from '../layout/html-template.ts'
import type { Visit } from '../layout/page.ts'
import { filter, KbParams, WholeNumber } from '../layout/page-query.ts'
import { isFragment, pagesOf } from '../layout/page-routes.ts'
import { activityPage, activitySection } from './activity-page.ts'
import { findingsRoutes } from './findings-page.ts'
import { homePage, homeWork, kbHomePage } from './home-page.ts'
import { tourPart, tourPath } from './tour-page.ts'

const kbsOnPage = 100
/** Events from which the last lines of a home page, or a page of lines, are made. */
const eventsRead = { home: 150, page: 200 }

const HomeQuery = z.object({ page: filter(WholeNumber) })
const ActivityQuery = z.object({
  kb: filter(KbId),
  kind: filter(z.enum(Object.keys(activityKinds) as (keyof typeof activityKinds)[])),
  before: filter(WholeNumber),
})
const TourForm = z.object({ step: z.enum(['read', 'search', 'dismissed']) })

export function overviewRoutes(app: ZodFastify, ctx: AppContext): void {
  const pages = pagesOf(app)

  pages.get('/', { query: HomeQuery }, async ({ request, visit, caller, query }) => {
    const all = await readOverview(ctx, caller)
    const count = Math.max(1, Math.ceil(all.length / kbsOnPage))
    const number = Math.min(query.page ?? 1, count)
    const kbs = all.slice((number - 1) * kbsOnPage, number * kbsOnPage)
    const view = { kbs, number, pages: count, latest: { items: [], older: null }, now: new Date() }
    if (isFragment(request)) return homeWork(visit, view)
    const latest = await readActivity(ctx, caller, { limit: eventsRead.home })
    return homePage(visit, { ...view, latest, tour: await tourOf(visit, caller) })
  })

  pages.get('/kb/:kb', { params: KbParams }, async ({ request, visit, caller, params }) => {
    const overview = await readKbOverview(ctx, caller, params.kb)
    const { slug } = overview
    const latest = overview.isBroken
      ? { items: [], older: null }
      : await readActivity(ctx, caller, { kb: slug, limit: eventsRead.home })
    const isCurator = reaches(visit.session.role, 'curator') && !overview.isBroken
    const tests = isCurator ? await readTestHistory(ctx, caller, slug) : undefined
    const path = ctx.urls.clone(visit.session.tenant.slug, slug)
    const cloneUrl = new URL(path, `${request.protocol}://${request.host}`).href
    const tour = await tourOf(visit, caller, slug)
    return kbHomePage(visit, { overview, latest, cloneUrl, tour, tests, now: new Date() })
  })

  pages.get('/activity', { query: ActivityQuery }, async ({ request, visit, caller, query }) => {
    const kbs = (await readOverview(ctx, caller)).map(({ slug, title }) => ({ slug, title }))
    const { kb, kind, before } = query
    const activity = await readActivity(ctx, caller, { kb, kind, before, limit: eventsRead.page })
    const view = { activity, kbs, kb, kind, before, now: new Date() }
    return isFragment(request) ? activitySection(view) : activityPage(visit, view)
  })

  pages.post('/tour', { config: { people: 'admin' }, body: TourForm }, async ({ caller, body: { step } }) => {
    const tour = await readTour(ctx, caller)
    await markTour(ctx, caller, step)
    return { to: step === 'dismissed' || tour === undefined ? '/' : tourPath(tour, step) }
  })

  // For the description of the API, which is no page of ours.
  pages.get(formTokenPath, {}, ({ reply, visit }) => reply.type('text/plain').send(visit.formToken))

  findingsRoutes(app, ctx)

  /** Renders the tour for an administrator, on the pages where it starts. */
  async function tourOf(visit: Visit, caller: Caller, kb?: string): Promise<Html | undefined> {
    if (!reaches(visit.session.role, 'admin')) return undefined
    const tour = await readTour(ctx, caller)
    return tour === undefined || (kb !== undefined && kb !== tour.kb) ? undefined : tourPart(visit, tour)
  }
}
