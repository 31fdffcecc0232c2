import type { ActivityPage, ActivityQuery } from '../events/read-activity.ts'
import type { LintReport } from '../operate/lint/lint-kb.ts'
import type { FindingPage, FindingRule } from '../operate/lint/list-findings.ts'
import type { FindingProposals } from '../operate/lint/propose-finding.ts'
import type { KbOverview } from '../operate/overview/read-overview.ts'
import type { Tour, TourMark } from '../operate/overview/tour.ts'
import type { Caller } from '../rules/access/caller.ts'

/** What is going on in a tenant, for the console. */
export interface OverviewServices {
  /** The caller's knowledge bases in numbers, those with the most work first. */
  readOverview(caller: Caller): Promise<KbOverview[]>
  readKbOverview(caller: Caller, kb: string): Promise<KbOverview>
  readActivity(caller: Caller, query: ActivityQuery): Promise<ActivityPage>
  /** What is wrong with a knowledge base's links; undefined while it is looked for for the first time. For curators. */
  listFindings(
    caller: Caller,
    kb: string,
    query: { rule?: FindingRule | undefined; from: number; limit: number },
  ): Promise<FindingPage | undefined>
  /** Proposes what settles a finding. For curators. */
  proposeFinding(
    caller: Caller,
    kb: string,
    settling: { fingerprint: string; choice: string },
  ): Promise<FindingProposals>
  /** Looks for findings now, and puts those that are new into the queue. For curators. */
  lintKnowledgeBase(caller: Caller, kb: string): Promise<LintReport>
  /** How far a person has come on the tour of the demonstration; undefined where there is none. */
  readTour(caller: Caller): Promise<Tour | undefined>
  markTour(caller: Caller, mark: TourMark): Promise<void>
  /** Where a repository is cloned from; a path where nobody has said where clients reach the server. */
  cloneUrl(tenantSlug: string, kbSlug: string): string
}
