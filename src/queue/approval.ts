import type { Awaiting } from '../contract/envelope.ts'
import { GanglionError, ValidationError } from '../contract/errors.ts'
import type { Oid } from '../git/objects/object.ts'
import type { Staging } from '../git/staging.ts'
import type { KnowledgeBase } from '../kb/knowledge-base.ts'
import type { CandidateRow } from '../kb/projection/candidate-index.ts'
import { findCandidate } from '../kb/projection/candidate-index.ts'
import { lastBlob } from '../kb/projection/version-queries.ts'
import { awaitedApprovals, type Decided, type DecidedPage, votesBy, votesFor } from '../kb/writing/approvals.ts'
import { commitToMain, commitToQueue, nextNumber, withDecision } from '../kb/writing/commits.ts'
import { mergedTestFiles } from '../kb/writing/merge-candidate.ts'
import { type ApprovalEdit, type Proposal, type ProposalView, proposalOf } from '../kb/writing/proposal.ts'
import { approvalTrailers } from '../kb/writing/push-main.ts'
import { PushRefused, revised } from '../kb/writing/pushed-neurons.ts'
import { followRenames } from '../kb/writing/rename/follow-renames.ts'
import { namesVisibleTo } from '../kb/writing/rename/name-change.ts'
import { type LandedPages, takeNeurons, takePictures } from '../kb/writing/take-neurons.ts'
import { parseCandidate } from '../markdown/file/candidate-file.ts'
import { openContent, unreadableHead } from '../markdown/file/content-front-matter.ts'
import { fileLayout, hasReadableSize } from '../markdown/file/front-matter.ts'
import { accessIn, editNeuron, hiddenLines, parseNeuronFile } from '../markdown/file/neuron-file.ts'
import { isInternal, isSeenByMore, narrowed, widens } from '../rules/access/audience.ts'
import { type Actor, type Candidate, followsRename, policyActor, queueStatus } from '../rules/candidates/candidate.ts'
import { pageIdOf } from '../rules/candidates/candidate-id.ts'
import { checkConflictMarkers } from '../rules/check/conflict-markers.ts'
import { awaitingText, isOpenToCurators } from '../rules/deciding.ts'
import { doorOf, isFirstCome } from '../rules/neurons/first-come.ts'
import { formatSeqId } from '../rules/neurons/seq-id.ts'

/** Result of an approval that is recorded as a vote, because more approvals are needed. */
type VotedFor = { awaiting: Awaiting }

/** Thrown if only a curator may approve: no policy may show a Neuron to more readers, or change what its author may not have seen. */
export class CuratorNeeded extends Error {
  constructor() {
    super('more readers would see the Neuron, or a comment would change')
  }
}

/** Approving person, key or policy, and the time. */
export type Approver = { by: Actor; at: Date }

/** Returns main as a write sees it; without a write, as it is committed. */
export function proposalViewOf({ projection, repository, parser }: KnowledgeBase, staging?: Staging): ProposalView {
  const source = staging ?? repository
  return { sql: staging ? projection.write : projection.read, readText: (oid) => source.readText(oid), parser }
}

/** Returns the names of the fields that an approval changes. */
export function editedFields(edit: ApprovalEdit): string[] {
  return Object.entries(edit).flatMap(([field, part]) => (part === undefined ? [] : [field]))
}

/**
 * Approves a candidate within a group commit, or records a vote if `kb.yaml` requires more; an edit is then its next version. Throws only
 * before it stages anything.
 * @throws {GanglionError} `approval_needed` if the approval does not count
 */
export async function approveStaged(
  kb: KnowledgeBase,
  staging: Staging,
  candidateId: string,
  { by, at, edit = {} }: Approver & { edit?: ApprovalEdit },
): Promise<NonNullable<CandidateRow['approval']> | VotedFor> {
  const row = findCandidate(kb.projection.write, candidateId)
  if (row === undefined) throw new GanglionError('not_found')
  if (row.approval !== undefined) return row.approval
  const candidate = parseCandidate(await staging.readText(row.blob))
  if (queueStatus(candidate) !== 'pending') throw new GanglionError('not_pending')
  const edited = editedFields(edit)
  if (candidate.removes && edited.length > 0) {
    const message = 'cannot be changed: the candidate removes the Neuron'
    throw new ValidationError(Object.fromEntries(edited.map((field) => [field, [message]])))
  }

  const view = proposalViewOf(kb, staging)
  const seqId = candidate.target ?? formatSeqId(kb.identity.prefix, nextNumber(kb))
  const ownEdit = await splitEdit(kb, edit)
  const proposed = await proposalOf(view, candidate, { edit: ownEdit, ids: { seqId, id: pageIdOf(candidateId) } })
  const page = { ...proposed, candidate }
  const landing = await pageToLand(kb, staging, page, { seqId, by, at })
  const isEdited = edited.length > 0
  const decided = { of: [page], writes: async () => isEdited }
  const landed = await landPages(kb, staging, { ...landing, decided }, { by, at })
  if ('commit' in landed) {
    return findCandidate(kb.projection.write, candidateId)?.approval ?? { seqId, documentId: null, ...landed }
  }
  const voted = isEdited ? await nextVersion(view, candidate, { edit: ownEdit, by, at }) : page
  await recordVotes(kb, staging, [voted], { by, at, isRevised: isEdited, ...landed })
  return landed
}

/** Commit of approved pages on main, and the candidates that were made for it. */
export type Landing = Pick<LandedPages, 'candidates' | 'removals'> & {
  files: Map<string, string | Buffer | null>
  subject: string
  trailers: [string, string][]
  decided: Omit<Decided, 'by'>
}

/** Commits pages to main, and the candidates that were made for them to the queue, unless more approvals are needed. */
export async function landPages(
  kb: KnowledgeBase,
  staging: Staging,
  { files, candidates, ...landing }: Landing,
  { by, at }: Approver,
): Promise<{ commit: Oid } | VotedFor> {
  const decided = { ...landing.decided, by }
  const awaiting = await awaitedApprovals(kb, staging, files, decided)
  if (awaiting !== undefined) return { awaiting }
  await commitToQueue(kb, staging, candidates, { by, at })
  return { commit: await commitToMain(kb, staging, { ...landing, files, decided, at }) }
}

/** Proposed page of one candidate. */
type CandidatePage = Proposal & { candidate: Candidate }

/** Returns the changes of files by an approval: the page, its pictures and answer tests, and pages whose links follow its new name. */
async function pageToLand(
  kb: KnowledgeBase,
  staging: Staging,
  proposed: CandidatePage,
  { seqId, by, at }: Approver & { seqId: string },
): Promise<Omit<Landing, 'decided'>> {
  const { candidate, title, target } = proposed
  const tests = await mergedTestFiles(proposalViewOf(kb, staging), [candidate])
  // A file of a page that only the policy approved is visible to nobody, so its pictures stay in the text.
  const { pages, files: pictures } = await takePictures(kb, by.id === policyActor.id ? [] : [proposed])
  const [page = proposed] = pages
  if (by.id === policyActor.id && (await opensUp(kb, staging, seqId, page))) throw new CuratorNeeded()
  const { files, candidates, neurons } = await followName(kb, staging, page, { seqId, by, at })
  const verb = page.text === null ? 'Remove' : target === undefined ? 'Add' : 'Update'
  return {
    files: new Map<string, string | Buffer | null>([...tests, ...files, ...pictures]),
    candidates,
    removals: page.text === null ? [{ seqId, candidateId: candidate.id }] : [],
    subject: `${verb} "${title}"`,
    trailers: [
      ['Candidate', candidate.id],
      ['Neuron', seqId],
      ...approvalTrailers(neurons),
      ['Kind', candidate.kind],
      ['Connector', doorOf(candidate)],
    ],
  }
}

/** Returns the files of a page, with the pages whose links follow a rename or move of it, or with an alias. */
async function followName(
  kb: KnowledgeBase,
  staging: Staging,
  { path, text, movedFrom, title, target, candidate }: CandidatePage,
  { seqId, by, at }: Approver & { seqId: string },
): Promise<Pick<LandedPages, 'candidates' | 'neurons' | 'files'>> {
  const files = new Map<string, string | null>(movedFrom === undefined ? [] : [[movedFrom, null]])
  const isRenamed = target !== undefined && (title !== target.title || movedFrom !== undefined)
  if (text === null || !isRenamed) return { files: files.set(path, text), candidates: [], neurons: [] }

  const { rewriteLinks, defaultAudience } = await kb.settings()
  const page = { seqId, before: target, path, blob: target.blob, text }
  const { neurons: pages, aliases } = await followRenames(kb, staging, [page], {
    rewriteLinks,
    sight: isFirstCome(candidate) ? namesVisibleTo(kb.projection.write, seqId, defaultAudience) : undefined,
    isTakenBack: () => candidate.reverts === true,
  })
  const [own = page, ...others] = pages
  const known = parseNeuronFile(text).fields.aliases
  const renamed = editNeuron(own.text ?? text, { aliases: [...new Set([...known, ...(aliases.get(seqId) ?? [])])] })
  if (!hasReadableSize(renamed)) {
    throw new ValidationError({ title: ['makes the front matter larger than 16 KB: the old title stays as an alias'] })
  }
  const origin = { door: 'rename', by: by.id } as const
  const following = takeNeurons(kb, staging, others, { actor: by, at, origin, reason: followsRename })
  const {
    candidates,
    neurons,
    files: rewritten,
  } = await following.catch((error: unknown) => {
    if (!(error instanceof PushRefused)) throw error
    throw new ValidationError({ title: [`cannot change: a link to it cannot follow. ${error.message}`] })
  })
  return { files: new Map([...files, [path, renamed], ...rewritten]), candidates, neurons }
}

/**
 * Returns an edit with the front matter at the head of its content applied.
 * @throws {ValidationError} if that cannot be read, or if the content has an unresolved conflict
 */
async function splitEdit(kb: KnowledgeBase, edit: ApprovalEdit): Promise<ApprovalEdit> {
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

/** Returns the candidate with an edit as its next version, which discards all votes, and its page. */
async function nextVersion(
  view: ProposalView,
  candidate: Candidate,
  { edit, by, at }: Approver & { edit: ApprovalEdit },
): Promise<CandidatePage> {
  const { text, title, target } = await proposalOf(view, candidate, { edit })
  const page = text ?? ''
  const [content, frontMatter] = [parseNeuronFile(page).content, page.slice(0, fileLayout(page).bodyStart)]
  const change = { title, content, frontMatter, base: target?.blob ?? null, metadata: candidate.metadata }
  const next = revised(candidate, change, { by, at })
  return { ...(await proposalOf(view, next)), candidate: next }
}

/**
 * Records votes for pages as an approval would make them now. `isRevised`: the voter has just written the pages, which are stored even if
 * the voter has no vote on them.
 * @throws {GanglionError} `approval_needed` for the policy, and for a voter without a vote on their own text
 */
export async function recordVotes(
  kb: KnowledgeBase,
  staging: Staging,
  pages: readonly DecidedPage[],
  { by, at, isRevised = false, awaiting }: Approver & VotedFor & { isRevised?: boolean },
): Promise<void> {
  // The sender sees this message, and may not know the owners in kb.yaml.
  if (by.id === policyActor.id) throw new GanglionError('approval_needed', undefined, { awaiting })
  const votes = await votesBy(kb, staging, pages, by)
  if (votes === undefined && !isRevised) {
    throw new GanglionError('approval_needed', `You wrote it, or may have. ${awaitingText(awaiting)}`, { awaiting })
  }
  const vote = { action: 'approve', at: at.toISOString(), by } as const
  const candidates =
    votes?.map((each) => withDecision(each.candidate, { ...vote, for: each.for })) ??
    pages.map(({ candidate }) => candidate)
  await commitToQueue(kb, staging, candidates, { by, at })
}

/**
 * Returns the approvals that a pending candidate needs besides any curator's (undefined if none, or if it cannot be merged now), and the
 * votes that count now, by voter.
 */
export async function decisionOf(
  kb: KnowledgeBase,
  candidate: Candidate,
): Promise<{ awaiting?: Awaiting | undefined; votes: ReadonlyMap<string, Actor> }> {
  const { deciding } = await kb.settings()
  if (deciding === null || isOpenToCurators(deciding)) return { votes: new Map() }
  const view = proposalViewOf(kb)
  try {
    const { path, text, movedFrom } = await proposalOf(view, candidate)
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
