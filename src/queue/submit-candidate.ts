import { type CandidateInput, CandidateReceipt, type Warning } from '../contract/candidates.ts'
import { GanglionError, ValidationError } from '../contract/errors.ts'
import type { CandidateKind } from '../contract/vocabulary.ts'
import type { Staging } from '../git/staging.ts'
import { type KbView, viewFor } from '../kb/access/kb-view.ts'
import { type Context, emitAct } from '../kb/context.ts'
import { type KnowledgeBase, maxPending } from '../kb/knowledge-base.ts'
import {
  type CandidateRow,
  candidateOfFingerprint,
  countPending,
  findCandidate,
} from '../kb/projection/candidate-index.ts'
import { accessOf, findNeuron, type NeuronRow } from '../kb/projection/neuron-queries.ts'
import type { MainTables } from '../kb/projection/projection.ts'
import { versionAt } from '../kb/projection/version-queries.ts'
import { admitted, requireWaitingRoom } from '../kb/within-limits.ts'
import { recordCandidate } from '../kb/writing/commits.ts'
import { type ProposalView, proposalOf } from '../kb/writing/proposal.ts'
import { parseNeuronFile } from '../markdown/file/neuron-file.ts'
import { actorOf, type Caller, isVisitor } from '../rules/access/caller.ts'
import type { Actor, Candidate, Verdict } from '../rules/candidates/candidate.ts'
import { candidateIdFor } from '../rules/candidates/candidate-id.ts'
import type { readMetadata } from '../rules/candidates/metadata.ts'
import { checkConflictMarkers } from '../rules/check/conflict-markers.ts'
import { judge } from '../rules/policy.ts'
import { oneLine } from '../rules/text/lines.ts'
import { runIdempotent } from '../state/run-idempotent.ts'
import { proposalViewOf } from './approval.ts'
import { type CorrectionBase, correctionBase, isConflictShown } from './correction-base.ts'
import { approveByPolicy, copyOfPage, isTestedFirst, leftToCurator } from './policy-approval.ts'
import { policyVerdicts } from './policy-verdicts.ts'
import { alreadyProposed, maxSimilar, type SameText, sameText, unchangedWarning } from './same-text.ts'
import { splitFrontMatter, unreadable } from './sent-content.ts'
import { takenNames } from './taken-names.ts'

/** Kinds that change the Neuron they name; every other kind creates one. */
const targetingKinds: ReadonlySet<CandidateKind> = new Set(['user-correction', 'ingest-page-update'])

export type SubmitOptions = {
  idempotencyKey?: string | undefined
  /** Id of the candidate, which may exist already. Default: a new one. */
  id?: string
  /** Request that the idempotency key is bound to. `body`: value to bind instead of the candidate, if the client sent something else. */
  request?: { route: string; body?: unknown }
  /** Entity tag of the Neuron that was read; see `metadata.baseCommit`. */
  ifMatch?: string | undefined
  /** True if the title describes the proposal instead of being a new title for the target. */
  isSubject?: boolean
  /** True to remove the target: content and title are ignored. */
  removes?: boolean
  /** Connector of the entry point, which is the default of a sender that names none. */
  door?: 'api' | 'mcp'
  /** Part of the service that submits in its own name. It makes one candidate for each fingerprint. */
  service?: { actor: Actor; fingerprint: string }
}

/**
 * Puts a candidate on its knowledge base's queue, and approves it at once if the policy says so.
 * @throws {GanglionError} `not_found`, `queue_full`, `idempotency_key_reused`, `merge_conflict` if it names its base
 * @throws {ValidationError} for invalid metadata, or metadata that names no version of the target
 */
export async function submitCandidate(
  ctx: Context,
  caller: Caller,
  input: CandidateInput,
  { idempotencyKey, request, id: given, ...options }: SubmitOptions = {},
): Promise<CandidateReceipt> {
  const kb = await ctx.kb(caller.tenantId, input.knowledgeBaseId)
  const build = await prepareCandidate(kb, caller, input, options)
  const submit = async (id: string) => {
    const submitted = await kb.write((staging) => submitStaged(kb, staging, build, id, ctx.now()))
    const { row, warnings, awaitsTests } = submitted
    // The candidate is on the queue, so later failures do not change the answer.
    const verdict = awaitsTests && (await committed(row.id, warnings).catch((error) => void ctx.onError(error)))
    const receipt = verdict ?? toReceipt(ctx, kb, submitted)
    // A fingerprint identifies one candidate. A repeated response is not recorded as an event.
    return receipt.candidateId === id ? emitAct(ctx, 'submit', receipt) : receipt
  }
  const committed = async (id: string, warnings = build.warnings) => {
    await kb.sync()
    const { read: sql } = kb.projection
    // A service does not wait for a verdict.
    await policyVerdicts(kb, ctx).settled(id, options.service && 0)
    const row = findCandidate(sql, id)
    if (row === undefined) return undefined
    const isUndecided = row.status === 'pending' && row.approvedByPolicy
    const more = isUndecided ? [verdictPending] : approvalWarnings(sql, build, row)
    return toReceipt(ctx, kb, { row, warnings: [...warnings, ...more] })
  }
  const keyed = {
    route: request?.route ?? 'POST /api/v1/queue/candidates',
    body: request?.body ?? { ...input, knowledgeBaseId: kb.identity.id, ifMatch: options.ifMatch },
  }
  const newId = () => given ?? candidateIdFor(kb.identity.id, { msecs: ctx.now().getTime() })
  const parse = (answer: unknown) => CandidateReceipt.parse(answer)
  return runIdempotent(ctx, caller, { ...keyed, idempotencyKey, newId, parse, committed }, submit)
}

export type CandidateDraft = Pick<
  Candidate,
  'kind' | 'title' | 'content' | 'metadata' | 'confidence' | 'impactEstimate' | 'connector'
> & {
  createdBy: Actor
  fingerprint: string | undefined
  door: string
  trustedConnector: boolean
  fields: ReturnType<typeof readMetadata>
  /** Returns whether the caller may know of a Neuron. */
  sees: KbView['sees']
  role: Caller['role']
  ifMatch: string | undefined
  isSubject: boolean
  removes: boolean
  settings: Awaited<ReturnType<KnowledgeBase['settings']>>
  /** Warnings for the sender. */
  warnings: Warning[]
  /** True if front matter of the content is unreadable and may hide the page. */
  isUnreadable: boolean
}

/** Submitted candidate. `awaitsTests`: the policy approves it once the answer tests have run. */
type Submitted = { row: CandidateRow; warnings: Warning[]; awaitsTests?: true }

/** Reads what a caller sent, once for all attempts to store it. @throws {ValidationError} */
export async function prepareCandidate(
  kb: KnowledgeBase,
  caller: Caller,
  input: CandidateInput,
  { service, ifMatch, isSubject = false, removes = false, door = 'api' }: SubmitOptions,
): Promise<CandidateDraft> {
  const [settings, view] = [await kb.settings(), await viewFor(caller, kb)]
  const { content, metadata: text, fields, warnings, isUnreadable } = splitFrontMatter(input, settings)
  const connector = fields.connector ?? door
  const title = oneLine(input.title, 2 * 500)
  if (title === '') throw new ValidationError({ title: ['must not be blank'] })
  return {
    kind: input.kind,
    title,
    content,
    metadata: text,
    confidence: input.confidence,
    impactEstimate: input.impactEstimate,
    connector,
    door,
    createdBy: service?.actor ?? actorOf(caller),
    fingerprint: service?.fingerprint,
    trustedConnector: caller.connectors.includes(connector),
    fields,
    sees: (neuron) => view.sees(neuron),
    role: caller.role,
    ifMatch,
    isSubject,
    removes,
    settings,
    warnings,
    isUnreadable,
  }
}

const conflictLeft = 'The content has the markers of a merge conflict: a curator decides.'

const verdictPending: Warning = {
  code: 'verdict_pending',
  message: 'The policy has not decided yet. Its verdict is an event: candidate.approved, or candidate.held.',
}

async function submitStaged(
  kb: KnowledgeBase,
  staging: Staging,
  draft: CandidateDraft,
  id: string,
  now: Date,
): Promise<Submitted> {
  const { write: sql } = kb.projection
  const { connector, fingerprint } = draft
  const warnings = [...draft.warnings]
  const earlier = fingerprint === undefined ? undefined : candidateOfFingerprint(sql, connector, fingerprint)
  if (earlier !== undefined) return { row: earlier, warnings }
  const known = findCandidate(sql, id)
  let same: SameText | undefined
  if (known === undefined) {
    const { candidate, base, told, ...judged } = await toCandidate(kb, staging, draft, id, now)
    warnings.push(...told)
    if (base?.isGiven === true && candidate.verdict.approve)
      await refuseConflict(proposalViewOf(kb, staging), candidate)
    // Anybody can be any number of visitors, so they leave room for callers with a key.
    if (isVisitor(draft.createdBy) && countPending(sql) >= maxPending / 2) throw new GanglionError('queue_full')
    await recordCandidate(kb, staging, candidate, 'Propose')
    same = judged.same
  }
  const row = findCandidate(sql, id)
  if (row === undefined) throw new GanglionError('internal')
  if (row.status !== 'pending' || !row.approvedByPolicy) return { row, warnings }
  // An approval without changes cannot break a test.
  if (same?.unchanged === undefined && isTestedFirst(kb, draft.settings)) {
    // It may become pending when nothing can be rolled back any more.
    await requireWaitingRoom(kb, draft.createdBy)
    return { row, warnings, awaitsTests: true }
  }
  await approveByPolicy(kb, staging, id, now, { same })
  const judged = findCandidate(sql, id) ?? row
  if (known === undefined && judged.status === 'pending') await requireWaitingRoom(kb, draft.createdBy)
  const more = approvalWarnings(sql, draft, judged).filter(({ code }) => !warnings.some((told) => told.code === code))
  return { row: judged, warnings: [...warnings, ...more] }
}

/** Returns the sender's warnings about an approval: that a Neuron already had the text, or which names of the page are taken. */
function approvalWarnings(sql: MainTables, { sees }: CandidateDraft, { approval }: CandidateRow): Warning[] {
  if (approval === undefined) return []
  const { seqId, commit } = approval
  if (versionAt(sql, seqId, commit)?.commit !== commit) return [unchangedWarning(seqId)]
  return takenNames(sql, seqId, (other) => sees(accessOf(sql, other) ?? { audience: [], tags: [] }))
}

/** Returns the candidate of a draft with the policy's verdict. Must run within a write. */
export async function toCandidate(
  kb: KnowledgeBase,
  staging: Staging,
  draft: CandidateDraft,
  id: string,
  now: Date,
): Promise<{
  candidate: Candidate
  base: CorrectionBase | undefined
  told: Warning[]
  same: SameText
}> {
  const { fields, settings, door, trustedConnector, isUnreadable, removes } = draft
  const { kind, title, metadata, confidence, impactEstimate, connector, createdBy } = draft
  const named = fields.targetNeuron === undefined ? undefined : findNeuron(kb.projection.write, fields.targetNeuron)
  const targetProblem = problemWithTarget(fields.targetNeuron, named, draft.sees)
  if (removes && (named === undefined || targetProblem !== null)) throw new GanglionError('target_not_found')
  const gone = removes && named ? parseNeuronFile(await staging.readText(named.blob)).content : undefined
  const content = gone ?? draft.content
  const record = { kind, title, content, metadata, confidence, impactEstimate, connector, createdBy }
  const actionZone = fields.actionZone ?? null
  const judged = judge({ ...record, door, trustedConnector, actionZone, targetProblem }, settings)
  const doubt = isUnreadable
    ? { reason: 'unreadable front matter', warning: unreadable }
    : checkConflictMarkers(content).length > 0 && { reason: 'a conflict in the text', warning: conflictLeft }
  const verdict = doubt
    ? { ...judged, approve: false, reason: doubt.reason, warnings: [...judged.warnings, doubt.warning] }
    : judged
  const target = targetingKinds.has(draft.kind) ? (fields.targetNeuron ?? null) : null
  const isKnown = target !== null && named !== undefined && targetProblem === null
  const read = { ...fields, ifMatch: draft.ifMatch }
  const base = isKnown
    ? await correctionBase(kb, proposalViewOf(kb, staging), named, { ...draft, content, read }, now)
    : undefined
  const isNamed = base === undefined || removes || draft.isSubject || title === oneLine(base.title, 2 * 500)
  const candidate: Candidate = {
    ...record,
    id,
    target,
    base: target === null ? null : (base?.blob ?? named?.blob ?? null),
    ...(isNamed ? {} : { renames: true }),
    removes,
    frontMatter: null,
    verdict: removes ? { ...verdict, approve: false, reason: 'a curator decides on removals' } : verdict,
    createdAt: now.toISOString(),
    decisions: [],
  }
  const same = await sameText(kb, staging, candidate, draft)
  const twins =
    same.unchanged === undefined && !isVisitor(createdBy) ? alreadyProposed(kb.projection.write, candidate) : []
  const isHeld = same.isCopy && candidate.verdict.approve
  return {
    candidate: isHeld ? leftToCurator(candidate, copyOfPage) : candidate,
    base,
    told: [
      ...targetWarnings(kind, fields.targetNeuron, targetProblem),
      ...(base?.warnings ?? []),
      ...(same.unchanged === undefined ? [] : [unchangedWarning(same.unchanged.seqId)]),
      ...[...twins, ...same.similar].slice(0, maxSimilar),
    ],
    same,
  }
}

/** Returns the same warning for a hidden target and a missing one. */
function targetWarnings(kind: CandidateKind, target: string | undefined, problem: string | null): Warning[] {
  if (target === undefined && targetingKinds.has(kind)) {
    const message = 'The metadata has no targetNeuron: it is taken as a new page, not as a change of one.'
    return [{ code: 'no_target', message }]
  }
  if (target === undefined || problem === null) return []
  return [{ code: 'target_not_found', message: `You see no Neuron ${target}: a curator has to decide.` }]
}

/** Reports a conflict at once to a sender that names its base, unless that would show a comment. @throws {GanglionError} */
async function refuseConflict(view: ProposalView, candidate: Candidate): Promise<void> {
  try {
    await proposalOf(view, candidate)
  } catch (error) {
    const isConflict = error instanceof GanglionError && error.code === 'merge_conflict'
    if (isConflict && (await isConflictShown(view, candidate))) throw error
  }
}

/** Returns the problem with a target, if any. A hidden target counts as missing, but a curator may still approve. */
function problemWithTarget(
  target: string | undefined,
  neuron: NeuronRow | undefined,
  sees: KbView['sees'],
): string | null {
  if (target === undefined || (neuron !== undefined && sees(neuron))) return null
  return neuron === undefined
    ? `The target ${target} does not exist.`
    : `The sender may not see the target ${target}: it did not know the text that it replaces.`
}

export function toReceipt(ctx: Context, kb: KnowledgeBase, { row, warnings }: Submitted): CandidateReceipt {
  return {
    candidateId: row.id,
    status: row.status,
    kbId: kb.identity.id,
    queueUrl: ctx.urls.candidate(row.id),
    ...(row.approval === undefined ? {} : { seqId: row.approval.seqId, commit: row.approval.commit }),
    ...(warnings.length === 0 ? {} : { warnings }),
  }
}

type CandidatePreview = { verdict: Verdict; warnings?: Warning[] }

/** Returns the policy's verdict on a candidate, and the answer for its sender. Stores nothing. @throws as `submitCandidate` */
export async function previewCandidate(
  ctx: Context,
  caller: Caller,
  input: CandidateInput,
  options: SubmitOptions,
): Promise<CandidatePreview> {
  const kb = await ctx.kb(caller.tenantId, input.knowledgeBaseId)
  const draft = await prepareCandidate(kb, caller, input, options)
  const now = ctx.now()
  const id = candidateIdFor(kb.identity.id, { msecs: now.getTime() })
  const { verdict, told } = await kb.write(async (staging) => {
    const { candidate, told } = await toCandidate(kb, staging, draft, id, now)
    const [passed = candidate] = await admitted(kb, [candidate])
    return { verdict: passed.verdict, told }
  })
  const warnings = [...draft.warnings, ...told]
  return { verdict, ...(warnings.length > 0 && { warnings }) }
}
