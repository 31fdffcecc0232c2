import type { Awaiting } from '../contract/envelope.ts'
import { whoIs } from '../kb/access/who-is.ts'
import type { Context } from '../kb/context.ts'
import type { KnowledgeBase } from '../kb/knowledge-base.ts'
import type { CandidateRow } from '../kb/projection/candidate-index.ts'
import { pendingLike } from '../kb/projection/candidate-queue.ts'
import { undoOf } from '../kb/projection/written-versions.ts'
import { type KbLabel, kbLabel } from '../kb/readable-kb.ts'
import { decisionOf } from '../queue/approval.ts'
import { readQueued } from '../queue/find-queued.ts'
import { type QueueEntry, type QueueView, toEntry } from '../queue/lists/list-queue.ts'
import { type Neighbours, neighboursOf } from '../queue/lists/queue-neighbours.ts'
import { type BundleEntry, bundleEntry } from '../queue/push-bundle.ts'
import { approvalDecision, proposedTests } from '../queue/read-candidate.ts'
import type { Caller } from '../rules/access/caller.ts'
import type { Candidate, Decision } from '../rules/candidates/candidate.ts'
import { linkKey } from '../rules/links/link-target.ts'
import { type FieldChange, fieldChanges } from './field-changes.ts'
import { type LinkChanges, linkChanges } from './link-changes.ts'
import { type ReviewSides, sidesOf } from './review-sides.ts'
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
