import type { CandidateStatus } from '../../contract/vocabulary.ts'
import { type Context, onePer } from '../../kb/context.ts'
import type { KbIdentity } from '../../kb/kb-identity.ts'
import type { KnowledgeBase } from '../../kb/knowledge-base.ts'
import { candidateOfFingerprint } from '../../kb/projection/candidate-index.ts'
import { titleOf } from '../../kb/projection/neuron-queries.ts'
import { surveyLinks } from '../../pages/graph/survey-links.ts'
import type { Caller } from '../../rules/access/caller.ts'
import { findingFingerprint, impactOf, type LintFinding } from '../../rules/lint/link-survey.ts'
import { lintConnector, lintTitle } from '../../rules/lint/lint-candidate.ts'
import { inUse } from '../../system/concurrency/present-work.ts'
import { withTimeout } from '../../system/concurrency/with-timeout.ts'

export const findingRules = [
  'missing-target',
  'gap',
  'ambiguous-target',
  'taken-name',
  'contradiction',
  'orphan',
] as const
export type FindingRule = (typeof findingRules)[number]

type NamedNeuron = { seqId: string; title: string }

export type FindingView = {
  rule: FindingRule
  /** Hash that identifies the finding across runs. */
  fingerprint: string
  title: string
  /** Number of Neurons that the finding concerns. */
  impact: number
  /** Targets as written in the links, with the number of links. */
  links?: { target: string; count: number; places: (NamedNeuron & { line: number | null })[] }
  /**
   * Neurons of the finding: possible targets of a link, contradicting Neurons, the holder of a name and those with the same name, or the
   * orphan.
   */
  neurons: NamedNeuron[]
  /** Candidate that lint has created for the finding. */
  candidate: { id: string; status: CandidateStatus } | undefined
}

export type FindingPage = {
  findings: FindingView[]
  /** Number of findings by rule, over all pages. */
  counts: Record<FindingRule, number>
  /** Offset of the next page; null on the last one. */
  next: number | null
  /** Time of the survey. `isBehind`: true if main has moved since. */
  at: string
  isBehind: boolean
}

const maxShown = 10

/**
 * Returns a page of findings about the links of a knowledge base, most impact first; undefined during the first survey. For curators.
 * @throws {GanglionError} `not_found`
 */
export async function listFindings(
  ctx: Context,
  caller: Pick<Caller, 'tenantId'>,
  kbName: string,
  { rule, from, limit }: { rule?: FindingRule | undefined; from: number; limit: number },
): Promise<FindingPage | undefined> {
  const kb = await ctx.kb(caller.tenantId, kbName)
  const { main } = kb.projection.heads(kb.projection.read)
  const survey = await findingSurveys(ctx).of(kb.identity, main)
  if (survey === undefined) return undefined
  const counts = { 'missing-target': 0, gap: 0, 'ambiguous-target': 0, 'taken-name': 0, contradiction: 0, orphan: 0 }
  for (const finding of survey.findings) counts[finding.rule]++
  const listed = rule === undefined ? survey.findings : survey.findings.filter((finding) => finding.rule === rule)
  return {
    findings: listed.slice(from, from + limit).map((finding) => viewOf(kb, finding)),
    counts,
    next: listed.length > from + limit ? from + limit : null,
    at: survey.at,
    isBehind: survey.main !== main,
  }
}

/** Returns the fields that all reports of a finding have. */
export function describeFinding({ projection: { read: sql } }: KnowledgeBase, finding: LintFinding) {
  const fingerprint = findingFingerprint(finding)
  const known = candidateOfFingerprint(sql, lintConnector, fingerprint)
  const title = lintTitle(finding, (seqId) => titleOf(sql, seqId) ?? '')
  const candidate = known && { id: known.id, status: known.status }
  return { rule: finding.rule, title, impact: impactOf(finding), fingerprint, candidate }
}

function viewOf(kb: KnowledgeBase, finding: LintFinding): FindingView {
  const named = (seqId: string) => ({ seqId, title: titleOf(kb.projection.read, seqId) ?? seqId })
  const links = 'links' in finding && {
    target: finding.target,
    count: finding.links,
    places: finding.places.slice(0, maxShown).map(({ seqId, line }) => ({ ...named(seqId), line })),
  }
  const neurons = neuronsOf(finding).slice(0, maxShown).map(named)
  return { ...describeFinding(kb, finding), ...(links && { links }), neurons }
}

/** Returns the Neurons that a finding is about, apart from those whose links it counts. */
export function neuronsOf(finding: LintFinding): readonly string[] {
  switch (finding.rule) {
    case 'orphan':
      return [finding.seqId]
    case 'contradiction':
      return finding.pair
    case 'ambiguous-target':
      return finding.meanings
    case 'taken-name':
      return [...(finding.holder === undefined ? [] : [finding.holder]), ...finding.others]
    case 'missing-target':
      return finding.likely
    case 'gap':
      return []
  }
}

/** Findings about the links of a knowledge base at a commit of main. */
type Survey = {
  main: string | undefined
  /** Time of the survey: ISO 8601, UTC. */
  at: string
  findings: LintFinding[]
  /** Number of links that lead nowhere, or may lead to several Neurons. */
  brokenLinks: number
}

/** Maximum number of surveys whose findings are cached. Of others, only the counts are. */
const maxKept = 8
/** Milliseconds that a request waits for a new survey before it accepts an older one. */
const patienceMs = 400
/** Pause after a survey, as a multiple of its duration: for a large knowledge base it takes seconds. */
const restFactor = 4

type Latest = Pick<Survey, 'main' | 'brokenLinks'> & { restUntil: number; survey: Survey | undefined }

/** Latest survey of each knowledge base. Surveys run one at a time, and yield to requests. */
export const findingSurveys = onePer((ctx: Context) => {
  /** Surveys, least recently made first. */
  const known = new Map<string, Latest>()
  const begun = new Map<string, Promise<Survey>>()
  let turn: Promise<unknown> = Promise.resolve()

  /**
   * Returns the number of broken links at the last survey; undefined before the first has ended. Starts another if main has moved.
   * @param main the present commit of main
   */
  function brokenLinks(identity: KbIdentity, main: string | undefined): number | undefined {
    const latest = known.get(identity.id)
    if (isStale(latest, main)) begin(identity).catch(() => {})
    return latest?.brokenLinks
  }

  /** Returns the survey of the present main, or an older one while that is made; undefined if there is none yet. */
  async function of(identity: KbIdentity, main: string | undefined): Promise<Survey | undefined> {
    const latest = known.get(identity.id)
    if (latest?.survey !== undefined && !isStale(latest, main)) return latest.survey
    const survey = begin(identity)
    survey.catch(() => {}) // It may fail when no caller waits for it any more.
    return withTimeout(patienceMs, survey, () => latest?.survey)
  }

  function begin(identity: KbIdentity): Promise<Survey> {
    const running = begun.get(identity.id)
    if (running !== undefined) return running
    const survey = turn.then(() => inUse(() => make(identity))).finally(() => begun.delete(identity.id))
    begun.set(identity.id, survey)
    turn = survey.catch(() => {})
    return survey
  }

  async function make(identity: KbIdentity): Promise<Survey> {
    const kb = await ctx.kbs.open(identity)
    const { main } = kb.projection.heads(kb.projection.read)
    const begin = performance.now()
    const findings = await surveyLinks(kb)
    const end = performance.now()
    const brokenLinks = findings.reduce((sum, finding) => sum + ('links' in finding ? finding.links : 0), 0)
    const survey = { main, at: ctx.now().toISOString(), findings, brokenLinks }
    known.delete(identity.id)
    known.set(identity.id, { main, brokenLinks, restUntil: end + restFactor * (end - begin), survey })
    const kept = [...known.values()].filter((latest) => latest.survey !== undefined)
    for (const latest of kept.slice(0, -maxKept)) latest.survey = undefined
    return survey
  }

  return { brokenLinks, of }
})

function isStale(latest: Latest | undefined, main: string | undefined): boolean {
  return latest === undefined || (latest.main !== main && performance.now() >= latest.restUntil)
}
