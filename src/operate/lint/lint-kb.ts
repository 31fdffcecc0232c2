import { posix } from 'node:path'
import { GanglionError, undefinedOn, ValidationError } from '../../contract/errors.ts'
import { viewAs } from '../../kb/access/kb-view.ts'
import { LinkView } from '../../kb/access/link-view.ts'
import type { Context } from '../../kb/context.ts'
import type { KnowledgeBase } from '../../kb/knowledge-base.ts'
import { neuronsOfConnector, pendingForTarget } from '../../kb/projection/candidate-index.ts'
import { findNeuron, neuronsInOrder, titleOf } from '../../kb/projection/neuron-queries.ts'
import { tryParseCandidate } from '../../markdown/file/candidate-file.ts'
import { parseNeuronFile } from '../../markdown/file/neuron-file.ts'
import { rewriteLinks } from '../../markdown/rewrite/rewrite-links.ts'
import { surveyLinks } from '../../pages/graph/survey-links.ts'
import { submitCandidate } from '../../queue/submit-candidate.ts'
import type { Caller } from '../../rules/access/caller.ts'
import type { Actor } from '../../rules/candidates/candidate.ts'
import { targetKeys } from '../../rules/links/link-target.ts'
import { findingFingerprint, type LintFinding } from '../../rules/lint/link-survey.ts'
import { lintCandidate, lintConnector } from '../../rules/lint/lint-candidate.ts'
import { FeatureIndex } from '../../rules/lint/lint-names.ts'
import { tagKey } from '../../rules/neurons/tag.ts'
import { neuronLink, shorten } from '../../rules/text/literal.ts'
import { questionTerms } from '../../search/query/query-words.ts'
import { analyserFor } from '../../search/text/analyser.ts'
import { pauses } from '../../system/pauses.ts'
import { describeFinding, findingSurveys, neuronsOf } from './list-findings.ts'

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

/** Pending candidates, and pages that must be edited by hand. */
type FindingProposals = { candidateIds: string[]; byHand: { seqId: string; title: string }[] }

/** Connector of these candidates. */
const connector = 'findings'
const maxTitle = 100

/**
 * Proposes a change that settles a finding, for curators to approve.
 * - links that lead nowhere or to several Neurons: leads them to `choice`, one candidate for each of the first 20 places' pages
 * - a contradiction: says in `choice` that it supersedes the other Neuron
 * @param choice seqId of one of the finding's Neurons
 * @throws {GanglionError} `not_found` if there is no such finding any more, `queue_full`
 * @throws {ValidationError} for a choice that the finding does not offer
 */
export async function proposeFinding(
  ctx: Context,
  caller: Caller,
  kbName: string,
  { fingerprint, choice }: { fingerprint: string; choice: string },
): Promise<FindingProposals> {
  const kb = await ctx.kb(caller.tenantId, kbName)
  const survey = await findingSurveys(ctx).of(kb.identity, kb.projection.heads(kb.projection.read).main)
  const finding = survey?.findings.find((each) => findingFingerprint(each) === fingerprint)
  if (finding === undefined) throw new GanglionError('not_found')
  if (finding.rule === 'orphan' || finding.rule === 'taken-name' || !neuronsOf(finding).includes(choice)) {
    throw new ValidationError({ choice: ['must be one of the pages that the finding names'] })
  }
  const settle = (page: { seqId: string; title: string; version: number; content: string }, verb: string) =>
    submitSettling(ctx, caller, kb, { verb, ...page })
  if (finding.rule === 'contradiction') {
    const other = finding.pair.find((seqId) => seqId !== choice) ?? ''
    const page = await pageOf(kb, choice)
    if (page === undefined) throw new GanglionError('not_found')
    const link = neuronLink({ seqId: other, title: titleOf(kb.projection.read, other) ?? other }, maxTitle)
    const content = `${parseNeuronFile(page.text).content.trimEnd()}\n\nThis page replaces ${link.replace('[[', '[[supersedes:')}.\n`
    return { candidateIds: [await settle({ ...page, content }, 'Supersede')], byHand: [] }
  }
  const proposals: FindingProposals = { candidateIds: [], byHand: [] }
  for (const seqId of new Set(finding.places.map((place) => place.seqId))) {
    const page = await pageOf(kb, seqId)
    if (page === undefined) continue
    const content = await retargeted(kb, page, finding, choice)
    if (content === undefined) proposals.byHand.push({ seqId, title: page.title })
    else proposals.candidateIds.push(await settle({ ...page, content }, 'Mend links'))
  }
  return proposals
}

async function pageOf(kb: KnowledgeBase, seqId: string) {
  const neuron = findNeuron(kb.projection.read, seqId)
  if (neuron === undefined) return undefined
  const { title, path, version, blob } = neuron
  return { seqId, title, path, version, text: await kb.repository.readText(blob) }
}

/**
 * Returns the page's content with the finding's links leading to `choice`; undefined if they cannot be changed, or are in the front matter.
 */
async function retargeted(
  kb: KnowledgeBase,
  { text, path }: { text: string; path: string },
  finding: Extract<LintFinding, { links: number }>,
  choice: string,
): Promise<string | undefined> {
  const view = new LinkView(await viewAs(kb, { audience: 'curator' }))
  const meant = findNeuron(kb.projection.read, choice)
  if (meant === undefined) return undefined
  const rewritten = await rewriteLinks(kb.parser, text, (link) => {
    const { target, form, kb: linked } = link
    const address = { target, form, from: path }
    if (!view.isOwn(linked) || form === 'edge' || 'seqId' in view.resolve(address)) return undefined
    const { key, bareKey = key } = targetKeys(address)
    if ((form === 'markdown' ? key : bareKey) !== finding.key) return undefined
    return form === 'markdown'
      ? { target: posix.relative(posix.dirname(path), meant.path) }
      : { target: choice, alias: target }
  })
  if (rewritten === undefined) return undefined
  const [before, after] = [parseNeuronFile(text).content, parseNeuronFile(rewritten).content]
  return before === after ? undefined : after
}

/** Submits a candidate, unless the same change is pending already. */
async function submitSettling(
  ctx: Context,
  caller: Caller,
  kb: KnowledgeBase,
  {
    seqId,
    title,
    version,
    content,
    verb,
  }: { seqId: string; title: string; version: number; content: string; verb: string },
): Promise<string> {
  for (const { id, blob } of pendingForTarget(kb.projection.read, { connector, target: seqId })) {
    if (tryParseCandidate(await kb.repository.readTextOnce(blob))?.content === content) return id
  }
  const input = {
    knowledgeBaseId: kb.identity.id,
    kind: 'user-correction' as const,
    title: `${verb}: ${shorten(title, maxTitle)}`,
    content,
    metadata: JSON.stringify({ connector, targetNeuron: seqId, baseVersion: version }),
    confidence: null,
    impactEstimate: null,
  }
  const { candidateId } = await submitCandidate(ctx, caller, input, { isSubject: true })
  return candidateId
}
