import { z } from 'zod'
import { type Awaiting, MergeConflict } from '../contract/envelope.ts'
import { type ErrorCode, GanglionError, ValidationError } from '../contract/errors.ts'
import type { CandidateStatus, Zone } from '../contract/vocabulary.ts'
import { whoIs } from '../kb/access/who-is.ts'
import type { Context } from '../kb/context.ts'
import type { KnowledgeBase } from '../kb/knowledge-base.ts'
import type { CandidateRow } from '../kb/projection/candidate-index.ts'
import { pendingLike } from '../kb/projection/candidate-queue.ts'
import { findNeuron } from '../kb/projection/neuron-queries.ts'
import { versionApproved } from '../kb/projection/version-queries.ts'
import { undoOf } from '../kb/projection/written-versions.ts'
import { type KbLabel, kbLabel } from '../kb/readable-kb.ts'
import { baseOf, type MainView, markedPage } from '../kb/writing/merge-candidate.ts'
import { type ProposalView, proposalOf } from '../kb/writing/proposal.ts'
import { type NeuronFile, parseNeuronFile } from '../markdown/file/neuron-file.ts'
import { decisionOf } from '../queue/approval.ts'
import { readQueued } from '../queue/find-queued.ts'
import { type Neighbours, neighboursOf, type QueueEntry, type QueueView, toEntry } from '../queue/lists/list-queue.ts'
import { type BundleEntry, bundleEntry } from '../queue/push-bundle.ts'
import { approvalDecision, proposedTests } from '../queue/read-candidate.ts'
import type { Caller } from '../rules/access/caller.ts'
import { type Candidate, type Decision, lastVerdict } from '../rules/candidates/candidate.ts'
import { linkKey } from '../rules/links/link-target.ts'
import { unixLines } from '../rules/text/line-endings.ts'
import { type FieldChange, fieldChanges } from './field-changes.ts'
import { type LinkChanges, linkChanges } from './link-changes.ts'
import { type SourcePassage, sourcePassages } from './source-passage.ts'

/** Event of a candidate. Events are ordered oldest first. */
export type ReviewStep = {
  action: Decision['action']
  at: string
  by: string
  /** Reason. For a comment: Markdown. */
  reason?: string
  /** Assignee. */
  to?: string
}

/** Pending candidate that resembles this one, and what it has in common. */
export type Duplicate = { entry: QueueEntry; why: ('same Neuron' | 'same title' | 'same text')[] }

export type CandidateReview = Neighbours & {
  entry: QueueEntry
  /** Pending candidates of the same push. */
  bundle: BundleEntry | undefined
  kb: KbLabel
  /** JSON object as text, as submitted. */
  metadata: string | null
  sides: ReviewSides
  /** Files of answer tests that come with it. */
  tests: Awaited<ReturnType<typeof proposedTests>>
  fields: FieldChange[]
  links: LinkChanges
  sources: SourcePassage[]
  duplicates: Duplicate[]
  /** Approvals that `kb.yaml` still requires. */
  awaiting: Awaiting | undefined
  /** True if the caller has approved it, and others must, too. */
  hasVoted: boolean
  steps: ReviewStep[]
  /** Way to undo its approval. */
  undo: ReturnType<typeof undoOf>
}

const maxDuplicates = 10

export async function reviewCandidate(
  ctx: Context,
  caller: Caller,
  candidateId: string,
  view: QueueView,
): Promise<CandidateReview> {
  const { kb, row, candidate } = await readQueued(ctx, caller, candidateId)
  const sides = await sidesOf(kb, row, candidate)
  const { before, after, path = '' } = sides
  const fields = (after ?? before)?.fields
  const bundle = bundleEntry(kb.projection.read, row)
  const waiting = new Set(bundle?.members.map(({ title }) => linkKey(title)))
  const decision = row.status === 'pending' ? await decisionOf(kb, candidate) : undefined
  const [links, sources, neighbours, approval] = await Promise.all([
    linkChanges(kb, sides, path, waiting),
    sourcePassages(ctx, caller.tenantId, { sources: fields?.sources ?? [], content: candidate.content }),
    neighboursOf(ctx, caller, row, view),
    approvalDecision(kb, row),
  ])
  return {
    entry: toEntry(kb.identity, kb.projection.read, row),
    bundle,
    kb: await kbLabel(kb),
    metadata: candidate.metadata,
    sides,
    tests: row.status === 'pending' ? await proposedTests(kb, candidate) : [],
    fields: fieldChanges(before, after),
    links,
    sources,
    duplicates: duplicatesOf(kb, row),
    awaiting: decision?.awaiting,
    hasVoted: decision?.votes.has((await whoIs(ctx, caller.tenantId, caller.id)).id) ?? false,
    steps: [...stepsOf(candidate), ...approval],
    undo: undoOf(kb.projection.read, row.id),
    ...neighbours,
  }
}

function stepsOf({ decisions }: Candidate): ReviewStep[] {
  return decisions.map(({ action, at, by, reason, to }) => ({
    ...{ action, at, by: by.name },
    ...(reason === undefined ? {} : { reason }),
    ...(to === undefined ? {} : { to }),
  }))
}

function duplicatesOf(kb: KnowledgeBase, row: CandidateRow): Duplicate[] {
  return pendingLike(kb.projection.read, row, maxDuplicates).map((other) => ({
    entry: toEntry(kb.identity, kb.projection.read, other),
    why: [
      ...(other.target !== null && other.target === row.target ? ['same Neuron' as const] : []),
      ...(other.titleKey !== '' && other.titleKey === row.titleKey ? ['same title' as const] : []),
      ...(other.textKey === row.textKey ? ['same text' as const] : []),
    ],
  }))
}

export type ReviewOutcome = {
  id: string
  title: string
  kb: string
  status: CandidateStatus
  zone: Zone | null
  /** seqId of the Neuron that it became, or removed. */
  seqId?: string
  isRemoval: boolean
  /** True if its last event was an approval, and others must approve it, too. */
  isVoted: boolean
  /** True if its last event was a new version, as when others must approve the edits of an approval. */
  isRevised: boolean
  /** Author of the last decision, if there is one. */
  by?: string
  at?: string
}

export async function readOutcome(ctx: Context, caller: Caller, candidateId: string): Promise<ReviewOutcome> {
  const { kb, row, candidate } = await readQueued(ctx, caller, candidateId)
  const { id, title, status, zone, approval, removes: isRemoval } = row
  const [approved] = await approvalDecision(kb, row)
  const verdict = lastVerdict(candidate)
  const last = status === 'pending' ? candidate.decisions.at(-1)?.action : undefined
  const decision = approved ?? (verdict && { by: verdict.by.name, at: verdict.at })
  return {
    ...{ id, title, status, zone, isRemoval },
    isVoted: last === 'approve',
    isRevised: last === 'revise',
    kb: kb.identity.slug,
    ...(approval === undefined ? {} : { seqId: approval.seqId }),
    ...(decision === undefined ? {} : { by: decision.by, at: decision.at }),
  }
}

/** Three texts of one page that cannot be merged. */
export type ConflictSides = {
  /** Common base of both sides. */
  base: string
  /** Present text of the Neuron. */
  current: string
  /** Text of the candidate; null if it removes the Neuron. */
  proposed: string | null
  /** Text of the Neuron with all changes of both, and markers around conflicts: the starting point of an edit. */
  merged: string
  conflicts: z.infer<typeof MergeConflict>[]
  /** Commit of the Neuron's present version: the base of an edit that resolves the conflict. */
  commit: string
  /** True if an edit of the content resolves it; otherwise the front matter conflicts, or a removal. */
  isSolvable: boolean
}

export type ReviewSides = {
  before: NeuronFile | undefined
  after: NeuronFile | undefined
  path: string | undefined
  /** Present path of the page, if approving moves it. */
  movedFrom?: string | undefined
  title: string
  /** Commit of the version in `before`. */
  commit?: string | undefined
  /** Reason why it cannot be approved as it is. */
  problem?: ErrorCode
  conflict?: ConflictSides
}

/** Returns what a candidate would change, or what an approved one changed. */
export async function sidesOf(kb: KnowledgeBase, row: CandidateRow, candidate: Candidate): Promise<ReviewSides> {
  const view = { sql: kb.projection.read, readText: (oid: string) => kb.repository.readText(oid), parser: kb.parser }
  return row.approval === undefined
    ? proposedSides(view, candidate)
    : approvedSides(view, row.approval, candidate.title)
}

async function proposedSides(view: ProposalView, candidate: Candidate): Promise<ReviewSides> {
  const target = candidate.target === null ? undefined : findNeuron(view.sql, candidate.target)
  const before = target && shownFile(await view.readText(target.blob))
  const shown = { before, title: candidate.title, path: target?.path, commit: target?.commit }
  try {
    const { text, ...proposal } = await proposalOf(view, candidate)
    return { ...shown, ...proposal, after: text === null ? undefined : shownFile(text) }
  } catch (error) {
    const own = candidate.removes ? undefined : unmergedFile(candidate, before)
    if (error instanceof ValidationError) return { ...shown, after: own, problem: 'malformed_request' }
    if (!(error instanceof GanglionError)) throw error
    if (error.code !== 'merge_conflict' || target === undefined || before === undefined) {
      return { ...shown, after: own, problem: error.code }
    }
    const base = shownFile((await baseOf(view, candidate)) ?? '')
    const marked = candidate.removes ? before : shownFile(await markedPage(view, candidate, target))
    const solved = await asSolved(view, candidate, { content: marked.content, base: target.commit })
    const after = candidate.removes ? undefined : (solved ?? marked)
    const conflict = {
      base: base.content,
      current: before.content,
      proposed: candidate.removes ? null : unixLines(candidate.content),
      merged: marked.content,
      conflicts: z.array(MergeConflict).parse(error.details.conflicts),
      commit: target.commit,
      isSolvable: solved !== undefined,
    }
    return { ...shown, after, problem: error.code, conflict }
  }
}

function shownFile(text: string): NeuronFile {
  const file = parseNeuronFile(text)
  return { ...file, content: unixLines(file.content) }
}

/** Returns the page of a candidate. One without front matter leaves the page its own. */
function unmergedFile({ frontMatter, content }: Candidate, before: NeuronFile | undefined): NeuronFile {
  if (frontMatter === null && before !== undefined) return { ...before, content: unixLines(content) }
  return shownFile((frontMatter ?? '') + content)
}

/** Returns the page as an edit of the text would make it; undefined if the front matter conflicts, too. */
async function asSolved(
  view: ProposalView,
  candidate: Candidate,
  edit: { content: string; base: string },
): Promise<NeuronFile | undefined> {
  try {
    const { text } = await proposalOf(view, candidate, { edit })
    return text === null ? undefined : shownFile(text)
  } catch (error) {
    if (error instanceof ValidationError || error instanceof GanglionError) return undefined
    throw error
  }
}

async function approvedSides(
  { sql, readText }: MainView,
  { seqId, commit }: NonNullable<CandidateRow['approval']>,
  title: string,
): Promise<ReviewSides> {
  const { before, after } = versionApproved(sql, seqId, commit)
  const fileOf = async (blob: string | null | undefined) =>
    blob === undefined || blob === null ? undefined : shownFile(await readText(blob))
  const movedFrom = before !== undefined && before.path !== after?.path ? before.path : undefined
  return {
    before: await fileOf(before?.blob),
    after: await fileOf(after?.blob),
    path: after?.path,
    movedFrom,
    title,
    commit: before?.commit,
  }
}
