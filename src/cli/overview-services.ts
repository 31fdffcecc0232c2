import { readActivity } from '../events/read-activity.ts'
import type { OverviewServices } from '../http/overview-services.ts'
import type { Context } from '../kb/context.ts'
import { FindingSurveys } from '../operate/lint/finding-surveys.ts'
import { lintKb } from '../operate/lint/lint-kb.ts'
import { listFindings } from '../operate/lint/list-findings.ts'
import { proposeFinding } from '../operate/lint/propose-finding.ts'
import { readKbOverview, readOverview } from '../operate/overview/read-overview.ts'
import { markTour, readTour } from '../operate/overview/tour.ts'
import { KbFiguresCache } from '../queue/kb-figures.ts'

export function overviewServicesOf(ctx: Context, figures = new KbFiguresCache(ctx)): OverviewServices {
  const surveys = new FindingSurveys(ctx)
  const caches = { surveys, figures }
  return {
    readOverview: (caller) => readOverview(ctx, caches, caller),
    readKbOverview: (caller, kb) => readKbOverview(ctx, caches, caller, kb),
    readActivity: (caller, query) => readActivity(ctx, caller, query),
    listFindings: (caller, kb, query) => listFindings(ctx, surveys, caller, kb, query),
    proposeFinding: (caller, kb, settling) => proposeFinding(ctx, surveys, caller, kb, settling),
    readTour: (caller) => readTour(ctx, caller),
    markTour: (caller, mark) => markTour(ctx, caller, mark),
    cloneUrl: (tenantSlug, kbSlug) => ctx.urls.clone(tenantSlug, kbSlug),
    lintKnowledgeBase: async (caller, kb) => lintKb(ctx, await ctx.kb(caller.tenantId, kb)),
  }
}
