import { undefinedOn } from '../../contract/errors.ts'
import type { Context } from '../../kb/context.ts'
import type { KnowledgeBase } from '../../kb/knowledge-base.ts'
import { neuronsOfConnector } from '../../kb/projection/candidate-index.ts'
import { findNeuron, neuronsInOrder, titleOf } from '../../kb/projection/neuron-queries.ts'
import { surveyLinks } from '../../pages/graph/survey-links.ts'
import { submitCandidate } from '../../queue/submit-candidate.ts'
import type { Caller } from '../../rules/access/caller.ts'
import type { Actor } from '../../rules/candidates/candidate.ts'
import type { LintFinding } from '../../rules/lint/link-survey.ts'
import { lintCandidate, lintConnector } from '../../rules/lint/lint-candidate.ts'
import { FeatureIndex } from '../../rules/lint/lint-names.ts'
import { tagKey } from '../../rules/neurons/tag.ts'
import { questionTerms } from '../../search/query/query-words.ts'
import { analyserFor } from '../../search/text/analyser.ts'
import { pauses } from '../../system/pauses.ts'
import { describeFinding } from './list-findings.ts'

export type LintResult = {
  rule: LintFinding['rule']
  title: string
  /** Number of Neurons that the finding concerns. */
  impact: number
  fingerprint: string
  /** State of the proposal. `open`: not proposed yet. */
  status: 'proposed' | 'proposed before' | 'open'
  candidateId?: string
}

export type LintReport = { id: string; slug: string; findings: LintResult[] }

type Found = { finding: LintFinding; result: LintResult }

/** Maximum number of new candidates per run, since a curator must read them. */
const maxNew = 100
const actor: Actor = { id: 'lint', name: 'Lint' }
const maxRelated = 3

/**
 * Surveys the links of an open knowledge base, and puts findings on the queue: each finding once, whatever became of its candidate, and 100
 * in a run, as far as the queue has room. Earlier findings that no longer hold stay on the queue.
 */
export async function lintKb(
  ctx: Context,
  kb: KnowledgeBase,
  { isDryRun = false }: { isDryRun?: boolean } = {},
): Promise<LintReport> {
  const pause = pauses()
  const found: Found[] = []
  for (const finding of await surveyLinks(kb)) {
    await pause()
    found.push({ finding, result: resultOf(kb, finding) })
  }
  const open = found.filter(({ result }) => result.status === 'open')
  if (!isDryRun) await propose(ctx, kb, open.slice(0, maxNew))
  return { id: kb.identity.id, slug: kb.identity.slug, findings: found.map(({ result }) => result) }
}

function resultOf(kb: KnowledgeBase, finding: LintFinding): LintResult {
  const { candidate, ...found } = describeFinding(kb, finding)
  return candidate ? { ...found, status: 'proposed before', candidateId: candidate.id } : { ...found, status: 'open' }
}

async function propose(ctx: Context, kb: KnowledgeBase, open: readonly Found[]): Promise<void> {
  const { id, tenantId } = kb.identity
  const hasOrphans = open.some(({ finding }) => finding.rule === 'orphan')
  const relatedTo = hasOrphans ? await relatedNeurons(kb) : () => []
  const caller: Caller = { id: actor.id, name: actor.name, tenantId, role: 'curator', connectors: [lintConnector] }
  const submissions = open.map(async ({ finding, result }) => {
    const related = finding.rule === 'orphan' ? relatedTo(finding.seqId) : []
    const input = lintCandidate(id, finding, {
      titleOf: (seqId) => titleOf(kb.projection.read, seqId) ?? '',
      related,
    })
    const service = { actor, fingerprint: result.fingerprint }
    // A finding without room is found again by the next run.
    const receipt = await submitCandidate(ctx, caller, input, { service }).catch(undefinedOn('queue_full'))
    if (receipt !== undefined) Object.assign(result, { status: 'proposed', candidateId: receipt.candidateId })
  })
  await Promise.all(submissions)
}

/** Runs the lint now, and puts new findings on the queue. For curators. @throws {GanglionError} `not_found` */
export async function lintNow(ctx: Context, { tenantId }: Pick<Caller, 'tenantId'>, kb: string): Promise<LintReport> {
  return lintKb(ctx, await ctx.kb(tenantId, kb))
}

/**
 * Returns a function that finds the Neurons sharing the rarest tags and title words with one. Uses the tables instead of the search index,
 * which has a single owner, since lint may run beside the server.
 */
async function relatedNeurons(kb: KnowledgeBase): Promise<(seqId: string) => string[]> {
  const analyser = analyserFor((await kb.settings()).language)
  const featuresOf = ({ title, tags }: { title: string; tags: readonly string[] }) => [
    ...questionTerms(title, analyser).map(({ term }) => `word ${term}`),
    ...tags.map((tag) => `tag ${tagKey(tag)}`),
  ]
  const index = await kb.projection.withSnapshot(async (sql) => {
    const pause = pauses()
    const features = new FeatureIndex()
    const own = neuronsOfConnector(sql, lintConnector)
    for (const neuron of neuronsInOrder(sql)) {
      await pause()
      if (!own.has(neuron.seqId)) features.add(neuron.seqId, featuresOf(neuron))
    }
    return features
  })
  return (seqId) => {
    const neuron = findNeuron(kb.projection.read, seqId)
    if (neuron === undefined) return []
    const sharing = index.sharing(featuresOf(neuron), maxRelated + 1)
    return sharing.filter((other) => other !== seqId).slice(0, maxRelated)
  }
}
