import type { Context } from '../context.ts'
import type { OverviewServices } from '../http/overview-services.ts'
import { readActivity } from '../services/events/read-activity.ts'
import { FindingSurveys } from '../services/lint/finding-surveys.ts'
import { lintKb } from '../services/lint/lint-kb.ts'
import { listFindings } from '../services/lint/list-findings.ts'
import { proposeFinding } from '../services/lint/propose-finding.ts'
import { KbFiguresCache } from '../services/overview/kb-figures.ts'
import { readKbOverview, readOverview } from '../services/overview/read-overview.ts'
import { markTour, readTour } from '../services/overview/tour.ts'

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
