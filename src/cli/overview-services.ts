import type { OverviewServices } from '../http/overview-services.ts'
import { readActivity } from '../services/events/read-activity.ts'
import type { Ganglion } from '../services/ganglion.ts'
import { FindingSurveys } from '../services/lint/finding-surveys.ts'
import { lintKb } from '../services/lint/lint-kb.ts'
import { listFindings } from '../services/lint/list-findings.ts'
import { proposeFinding } from '../services/lint/propose-finding.ts'
import { KbFiguresCache } from '../services/overview/kb-figures.ts'
import { readKbOverview, readOverview } from '../services/overview/read-overview.ts'
import { markTour, readTour } from '../services/overview/tour.ts'

export function overviewServicesOf(ganglion: Ganglion, figures = new KbFiguresCache(ganglion)): OverviewServices {
  const surveys = new FindingSurveys(ganglion)
  const caches = { surveys, figures }
  return {
    readOverview: (caller) => readOverview(ganglion, caches, caller),
    readKbOverview: (caller, kb) => readKbOverview(ganglion, caches, caller, kb),
    readActivity: (caller, query) => readActivity(ganglion, caller, query),
    listFindings: (caller, kb, query) => listFindings(ganglion, surveys, caller, kb, query),
    proposeFinding: (caller, kb, settling) => proposeFinding(ganglion, surveys, caller, kb, settling),
    readTour: (caller) => readTour(ganglion, caller),
    markTour: (caller, mark) => markTour(ganglion, caller, mark),
    cloneUrl: (tenantSlug, kbSlug) => ganglion.cloneUrl(tenantSlug, kbSlug),
    lintKnowledgeBase: async (caller, kb) => lintKb(ganglion, await ganglion.kb(caller.tenantId, kb)),
  }
}
