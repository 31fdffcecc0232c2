import { v7 as uuidv7 } from 'uuid'
import type { Awaiting } from '../contract/envelope.ts'
import { GanglionError, ValidationError } from '../contract/errors.ts'
import type { Staging } from '../git/staging.ts'
import type { KnowledgeBase } from '../kb/knowledge-base.ts'
import { findCandidate } from '../kb/projection/candidate-index.ts'
import { lastBlob } from '../kb/projection/version-queries.ts'
import { awaitedApprovals, type DecidedPage, votesBy, votesFor } from '../kb/writing/approvals.ts'
import { commitToMain, commitToQueue } from '../kb/writing/commits.ts'
import { revised } from '../kb/writing/git-candidate.ts'
import { mergedTestFiles } from '../kb/writing/merge-candidate.ts'
import { type ApprovalEdit, type Proposal, type ProposalView, proposalOf } from '../kb/writing/proposal.ts'
import { approvalTrailers } from '../kb/writing/push-main.ts'
import { PushRefused } from '../kb/writing/pushed-neurons.ts'
import { nextNumber, withDecision } from '../kb/writing/record.ts'
import { followRenames } from '../kb/writing/rename/follow-renames.ts'
import { namesVisibleTo } from '../kb/writing/rename/name-change.ts'
import { type LandedPages, takeNeurons, takePictures } from '../kb/writing/take-neurons.ts'
import { parseCandidate } from '../markdown/file/candidate-file.ts'
import { openContent, unreadableHead } from '../markdown/file/content-front-matter.ts'
import { fileLayout, hasReadableSize } from '../markdown/file/front-matter.ts'
import { editNeuron, parseNeuronFile } from '../markdown/file/neuron-file.ts'
import { accessIn } from '../markdown/page-tags.ts'
import { hiddenLines } from '../markdown/shown-content.ts'
import { isInternal, isSeenByMore, narrowed, widens } from '../rules/access/audience.ts'
import {
  type Actor,
  type Candidate,
  followsRename,
  isReversal,
  policyActor,
  queueStatus,
} from '../rules/candidates/candidate.ts'
import { checkConflictMarkers } from '../rules/check/conflict-markers.ts'
import { awaitingText, isOpenToCurators } from '../rules/deciding.ts'
import { doorOf, isFirstCome } from '../rules/neurons/first-come.ts'
import { formatSeqId } from '../rules/neurons/seq-id.ts'

export type ApprovedNeuron = { seqId: string; documentId: string | null; commit: string }
/** Approval that is recorded as a vote, since more are needed. */
export type VotedFor = { awaiting: Awaiting }

/** Thrown if only a curator may approve: no policy may show a Neuron to more readers, or change what its author may not have seen. */
export class CuratorNeeded extends Error {
  constructor() {
    super('more readers would see the Neuron, or a comment would change')
  }
}

/**
 * Records somebody's votes for pages as an approval would make them now. `isRevised`: the voter has just written them, which is kept even
 * if they have no vote on it.
 * @throws {GanglionError} `approval_needed` for the policy, and for a voter without a vote on their own text
 */
export async function recordVotes(
  kb: KnowledgeBase,
  staging: Staging,
  pages: readonly DecidedPage[],
  { by, at, isRevised = false, awaiting }: { by: Actor; at: Date; isRevised?: boolean; awaiting: Awaiting },
): Promise<void> {
  const told = { awaiting }
  // The sender sees this message, and may not know the owners in kb.yaml.
  if (by.id === policyActor.id) throw new GanglionError('approval_needed', undefined, told)
  const votes = await votesBy(kb, staging, pages, by)
  if (votes === undefined && !isRevised) {
    throw new GanglionError('approval_needed', `You wrote it, or may have. ${awaitingText(awaiting)}`, told)
  }
  const voted =
    votes?.map((vote) =>
      withDecision(vote.candidate, { action: 'approve', at: at.toISOString(), by, for: vote.for }),
    ) ?? pages.map(({ candidate }) => candidate)
  await commitToQueue(kb, staging, voted, { by, at })
}

/** Returns the files of an approval, with the pages whose links follow a rename or move of a Neuron, or an alias. */
async function renamed(
  kb: KnowledgeBase,
  staging: Staging,
  seqId: string,
  { path, text, movedFrom, title, target }: Proposal,
  { candidate, actor, now }: { candidate: Candidate; actor: Actor; now: Date },
): Promise<Pick<LandedPages, 'candidates' | 'neurons'> & { files: Map<string, string | null> }> {
  const files = new Map<string, string | null>(movedFrom === undefined ? [] : [[movedFrom, null]])
  const isRenamed = target !== undefined && (title !== target.title || movedFrom !== undefined)
  if (text === null || !isRenamed) return { files: files.set(path, text), candidates: [], neurons: [] }

  const { rewriteLinks, defaultAudience } = await kb.settings()
  const sight = isFirstCome(candidate) ? namesVisibleTo(kb.projection.write, seqId, defaultAudience) : undefined
  const page = { seqId, before: target, path, blob: target.blob, text }
  const { neurons: pages, aliases } = await followRenames(kb, staging, [page], {
    rewriteLinks,
    sight,
    isTakenBack: () => isReversal(candidate),
  })
  const [own = page, ...others] = pages
  const known = parseNeuronFile(text).fields.aliases
  const kept = [...new Set([...known, ...(aliases.get(seqId) ?? [])])]
  const renamedText = editNeuron(own.text ?? text, { aliases: kept })
  if (!hasReadableSize(renamedText)) {
    throw new ValidationError({ title: ['makes the front matter larger than 16 KB: the old title stays as an alias'] })
  }
  files.set(path, renamedText)
  const landed = takeNeurons(kb, staging, others, {
    ...{ actor, at: now },
    origin: { door: 'rename', by: actor.id },
    reason: followsRename,
  })
  const {
    candidates,
    neurons,
    files: rewritten,
  } = await landed.catch((error: unknown) => {
    if (!(error instanceof PushRefused)) throw error
    throw new ValidationError({ title: [`cannot change: a link to it cannot follow. ${error.message}`] })
  })
  for (const [other, rewrittenText] of rewritten) files.set(other, rewrittenText)
  return { files, candidates, neurons }
}

/** Returns what a pending candidate needs besides the approval of any curator; undefined also if it cannot be merged now. */
export async function awaitingOf(kb: KnowledgeBase, candidate: Candidate): Promise<Awaiting | undefined> {
  return (await decisionOf(kb, candidate)).awaiting
}

/** Returns the result of {@link awaitingOf}, with the votes that count now by voter. */
export async function decisionOf(
  kb: KnowledgeBase,
  candidate: Candidate,
): Promise<{ awaiting?: Awaiting | undefined; votes: ReadonlyMap<string, Actor> }> {
  const { read: sql } = kb.projection
  const { deciding } = await kb.settings()
  if (deciding === null || isOpenToCurators(deciding)) return { votes: new Map() }
  const view = { sql, readText: (oid: string) => kb.repository.readText(oid), parser: kb.parser }
  try {
    const proposal = await proposalOf(view, candidate)
    const { path, text, movedFrom } = proposal
    const files = new Map(movedFrom === undefined ? [] : [[movedFrom, null] as const])
    const tests = await mergedTestFiles(view, [candidate])
    const page = { candidate, path, text }
    const decided = { by: undefined, of: [page] }
    const awaiting = await awaitedApprovals(kb, view, new Map([...files, ...tests, [path, text]]), decided)
    return { awaiting, votes: await votesFor(kb, view, page) }
  } catch (error) {
    if (error instanceof GanglionError || error instanceof ValidationError) return { votes: new Map() }
    throw error
  }
}

export function proposalViewOf(kb: KnowledgeBase, staging: Staging): ProposalView {
  return { sql: kb.projection.write, readText: (oid) => staging.readText(oid), parser: kb.parser }
}

/**
 * True if a proposal shows its Neuron to somebody who may not see its present version, or the last one before it was deleted, or, for a new
 * one, a Neuron without an audience; or if it removes or changes comments, which its author may not have seen. Only a curator may approve
 * that.
 */
export async function opensUp(
  kb: KnowledgeBase,
  staging: Staging,
  seqId: string,
  { text, target }: Pick<Proposal, 'text' | 'target'>,
): Promise<boolean> {
  if (text === null) return false
  const last = target === undefined ? lastBlob(kb.projection.write, seqId) : undefined
  const settings = await kb.settings()
  const accessOf = (page: string) => accessIn(parseNeuronFile(page), settings)
  if (target !== undefined && !keepsHidden(await staging.readText(target.blob), text)) return true
  const before = last === undefined ? target : accessOf(await staging.readText(last))
  const after = accessOf(text)
  if (before === undefined) return after.audience !== undefined && widens(after.audience, settings.defaultAudience)
  return isSeenByMore(after, before, settings.defaultAudience)
}

/** True if a page keeps every line that only curators see completely. Takes linear time. */
function keepsHidden(before: string, after: string): boolean {
  const left = new Map<string, number>()
  for (const line of hiddenLines(parseNeuronFile(after))) left.set(line, (left.get(line) ?? 0) + 1)
  return hiddenLines(parseNeuronFile(before)).every((line) => {
    const count = left.get(line) ?? 0
    left.set(line, count - 1)
    return count > 0
  })
}

/**
 * Returns an edit with the front matter at the head of its content applied.
 * @throws {ValidationError} if that cannot be read, or if the content has an unresolved conflict
 */
async function openedEdit(kb: KnowledgeBase, edit: ApprovalEdit): Promise<ApprovalEdit> {
  if (edit.content === undefined) return edit
  const { content, tags, audience, isUnreadable } = openContent(edit.content)
  if (isUnreadable) throw new ValidationError({ content: [unreadableHead] })
  if (checkConflictMarkers(content).length > 0) {
    throw new ValidationError({
      content: ['has a conflict that is not solved: write what is right in place of the marked lines'],
    })
  }
  const { defaultAudience } = await kb.settings()
  const added = edit.tags === undefined ? tags : tags.filter((tag) => isInternal([tag]))
  return { ...edit, content, adds: { tags: added, audience: audience && narrowed(audience, defaultAudience) } }
}

/** True if somebody approves a candidate with changes of their own. */
export function isEdit(edit: ApprovalEdit): boolean {
  return Object.values(edit).some((part) => part !== undefined)
}

/** Returns the candidate with an edit as its next version, which discards all votes. */
async function edited(
  kb: KnowledgeBase,
  staging: Staging,
  candidate: Candidate,
  { edit, by, at }: { edit: ApprovalEdit; by: Actor; at: Date },
): Promise<Candidate> {
  const { text, title, target } = await proposalOf(proposalViewOf(kb, staging), candidate, { edit })
  const page = text ?? ''
  const [content, frontMatter] = [parseNeuronFile(page).content, page.slice(0, fileLayout(page).bodyStart)]
  const { metadata } = candidate
  return revised(candidate, { title, content, frontMatter, base: target?.blob ?? null, metadata }, { by, at })
}

/**
 * Approves a candidate within a group commit, or records a vote if `kb.yaml` requires more; an edit is then its next version. Throws only
 * before it stages anything.
 * @throws {GanglionError} `approval_needed` if the actor's approval does not count
 */
export async function approveStaged(
  kb: KnowledgeBase,
  staging: Staging,
  candidateId: string,
  edit: ApprovalEdit,
  actor: Actor,
  now: Date,
): Promise<ApprovedNeuron | VotedFor> {
  const row = findCandidate(kb.projection.write, candidateId)
  if (row === undefined) throw new GanglionError('not_found')
  if (row.approval !== undefined) return row.approval
  const candidate = parseCandidate(await staging.readText(row.blob))
  if (queueStatus(candidate) !== 'pending') throw new GanglionError('not_pending')

  const ids = { seqId: candidate.target ?? formatSeqId(kb.identity.prefix, nextNumber(kb)), id: uuidv7() }
  const opened = await openedEdit(kb, edit)
  const view = proposalViewOf(kb, staging)
  const proposed = await proposalOf(view, candidate, { edit: opened, ids })
  const tests = await mergedTestFiles(view, [candidate])
  const isPolicy = actor.id === policyActor.id
  // A file of a page that only the policy approved is visible to nobody, so its pictures stay in the text.
  const brought = isPolicy ? undefined : await takePictures(kb, [proposed])
  const [proposal = proposed] = brought?.pages ?? []
  const { text, title, target } = proposal
  if (isPolicy && (await opensUp(kb, staging, ids.seqId, proposal))) throw new CuratorNeeded()
  const removals = text === null ? [{ seqId: ids.seqId, candidateId }] : []
  const {
    files: pages,
    candidates,
    neurons,
  } = await renamed(kb, staging, ids.seqId, proposal, { candidate, actor, now })
  const files = new Map<string, string | Buffer | null>([...tests, ...pages, ...(brought?.files ?? [])])
  const isEdited = isEdit(edit)
  const { path } = proposal
  const decided = { by: actor, of: [{ candidate, path, text: proposed.text }], writes: async () => isEdited }
  const awaiting = await awaitedApprovals(kb, staging, files, decided)
  if (awaiting !== undefined) {
    const voted = isEdited ? await edited(kb, staging, candidate, { edit: opened, by: actor, at: now }) : candidate
    const page = isEdited ? await proposalOf(view, voted) : proposed
    await recordVotes(kb, staging, [{ ...page, candidate: voted }], {
      ...{ by: actor, at: now, isRevised: isEdited, awaiting },
    })
    return { awaiting }
  }
  await commitToQueue(kb, staging, candidates, { by: actor, at: now })
  const commit = await commitToMain(kb, staging, {
    ...{ files, removals, decided, at: now },
    subject: `${text === null ? 'Remove' : target === undefined ? 'Add' : 'Update'} "${title}"`,
    trailers: [
      ['Candidate', candidateId],
      ['Neuron', ids.seqId],
      ...approvalTrailers(neurons),
      ['Kind', candidate.kind],
      ['Connector', doorOf(candidate)],
    ],
  })
  return findCandidate(kb.projection.write, candidateId)?.approval ?? { seqId: ids.seqId, documentId: null, commit }
}
