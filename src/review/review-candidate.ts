import type { CandidateDetail } from '../contract/candidates.ts'
import { GanglionError, ValidationError } from '../contract/errors.ts'
import { whoIs } from '../kb/access/who-is.ts'
import type { Context } from '../kb/context.ts'
import type { KnowledgeBase } from '../kb/knowledge-base.ts'
import type { CandidateRow } from '../kb/projection/candidate-index.ts'
import { pendingLike } from '../kb/projection/candidate-queue.ts'
import { undoOf } from '../kb/projection/written-versions.ts'
import { type KbLabel, kbLabel } from '../kb/readable-kb.ts'
import { baseOf } from '../kb/writing/merge-candidate.ts'
import { proposalOf } from '../kb/writing/proposal.ts'
import { type NeuronFile, parseNeuronFile } from '../markdown/file/neuron-file.ts'
import { proposalViewOf } from '../queue/approval.ts'
import {
  type DescribedCandidate,
  decisionsOn,
  describeCandidate,
  type PageChange,
  readQueued,
} from '../queue/describe-candidate.ts'
import { type Neighbours, neighboursOf, type QueueEntry, type QueueView, toEntry } from '../queue/lists/list-queue.ts'
import { type BundleEntry, bundleEntry } from '../queue/push-bundle.ts'
import type { Caller } from '../rules/access/caller.ts'
import type { Candidate } from '../rules/candidates/candidate.ts'
import { linkKey } from '../rules/links/link-target.ts'
import { unixLines } from '../rules/text/line-endings.ts'
import { type FieldChange, fieldChanges } from './field-changes.ts'
import { type LinkChanges, linkChanges } from './link-changes.ts'
import { type SourcePassage, sourcePassages } from './source-passage.ts'

/** Decision or comment on a candidate. The reason of a comment is Markdown. */
export type ReviewStep = CandidateDetail['decisions'][number]

/** Pending candidate that resembles this one, and what it has in common. */
type Duplicate = { entry: QueueEntry; why: ('same Neuron' | 'same title' | 'same text')[] }

/** Three texts of one page that cannot be merged. */
type ConflictSides = {
  /** Common base of both sides. */
  base: string
  /** Present text of the Neuron. */
  current: string
  /** Text of the candidate; null if it removes the Neuron. */
  proposed: string | null
  /** Text of the Neuron with all changes of both, and markers around conflicts: the starting point of an edit. */
  merged: string
  conflicts: NonNullable<PageChange['conflicts']>
  /** True if an edit of the content resolves it; otherwise the front matter conflicts, or a removal. */
  isSolvable: boolean
}

type ReviewSides = Omit<PageChange, 'before' | 'after'> & {
  before: NeuronFile | undefined
  after: NeuronFile | undefined
  conflict?: ConflictSides
}

export type CandidateReview = Neighbours &
  Pick<DescribedCandidate, 'tests' | 'awaiting'> & {
    entry: QueueEntry
    /** Pending candidates of the same push. */
    bundle: BundleEntry | undefined
    kb: KbLabel
    /** JSON object as text, as submitted. */
    metadata: string | null
    sides: ReviewSides
    fields: FieldChange[]
    links: LinkChanges
    sources: SourcePassage[]
    duplicates: Duplicate[]
    /** True if the caller has approved it, and others must, too. */
    hasVoted: boolean
    /** Decisions and comments, oldest first. */
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
  const described = await describeCandidate(ctx, caller, candidateId)
  const { kb, row, candidate, tests, awaiting, votes, decisions: steps } = described
  const { read: sql } = kb.projection
  const sides = await sidesOf(described)
  const { before, after, path = '' } = sides
  const bundle = bundleEntry(sql, row)
  const waiting = new Set(bundle?.members.map(({ title }) => linkKey(title)))
  const cited = { sources: (after ?? before)?.fields.sources ?? [], content: candidate.content }
  const [links, sources, neighbours] = await Promise.all([
    linkChanges(kb, sides, path, waiting),
    sourcePassages(ctx, caller.tenantId, cited),
    neighboursOf(ctx, caller, row, view),
  ])
  return {
    ...{ bundle, sides, tests, links, sources, awaiting, steps, ...neighbours },
    entry: toEntry(kb.identity, sql, row),
    kb: await kbLabel(kb),
    metadata: candidate.metadata,
    fields: fieldChanges(before, after),
    duplicates: duplicatesOf(kb, row),
    hasVoted: votes.has((await whoIs(ctx, caller.tenantId, caller.id)).id),
    undo: undoOf(sql, row.id),
  }
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

/** Returns the pages before and after a change. One that cannot be made is shown as its sender wrote it. */
async function sidesOf(described: DescribedCandidate): Promise<ReviewSides> {
  const { candidate, change } = described
  const { problem, conflicts } = change
  const [before, after] = [change.before, change.after].map((page) => (page === undefined ? page : shownFile(page)))
  if (problem === undefined) return { ...change, before, after }
  if (conflicts === undefined || before === undefined) {
    return { ...change, before, after: candidate.removes ? undefined : unmergedFile(candidate, before) }
  }
  const view = proposalViewOf(described.kb)
  const marked = after ?? before
  const solved = await proposalOf(view, candidate, { edit: { content: marked.content, base: change.commit } }).catch(
    (error: unknown) => {
      // The front matter conflicts, too.
      if (!(error instanceof ValidationError || error instanceof GanglionError)) throw error
    },
  )
  const solvedFile = solved?.text == null ? undefined : shownFile(solved.text)
  return {
    ...{ ...change, before },
    after: after && (solvedFile ?? after),
    conflict: {
      base: shownFile((await baseOf(view, candidate)) ?? '').content,
      current: before.content,
      proposed: candidate.removes ? null : unixLines(candidate.content),
      merged: marked.content,
      ...{ conflicts, isSolvable: solvedFile !== undefined },
    },
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

/** Outcome of a decision. `seqId`: of the Neuron that the candidate became, or removed. */
export type ReviewOutcome = Pick<QueueEntry, 'id' | 'title' | 'kb' | 'status' | 'zone' | 'seqId'> & {
  isRemoval: boolean
  /** True if the candidate's last event was an approval, but others must approve it, too. */
  isVoted: boolean
  /** True if the candidate's last event was a new version, as when others must approve the edits of an approval. */
  isRevised: boolean
  /** Author of the last decision, if there is one. */
  by?: string
  at?: string
}

export async function readOutcome(ctx: Context, caller: Caller, candidateId: string): Promise<ReviewOutcome> {
  const queued = await readQueued(ctx, caller, candidateId)
  const { id, title, status, zone, approval, removes: isRemoval } = queued.row
  const steps = await decisionsOn(queued)
  const last = status === 'pending' ? steps.at(-1)?.action : undefined
  const decision = steps.findLast(({ action }) => action === 'dismiss' || action === 'reopen')
  const { by, at } = (approval === undefined ? decision : steps.at(-1)) ?? {}
  return {
    ...{ id, title, status, zone, isRemoval },
    isVoted: last === 'approve',
    isRevised: last === 'revise',
    kb: queued.kb.identity.slug,
    ...(approval && { seqId: approval.seqId }),
    ...(by !== undefined && at !== undefined && { by, at }),
  }
}
