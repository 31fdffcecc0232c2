import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { DiffPool } from '../compare/diff-pool.ts'
import type { CandidateDetail } from '../contract/candidates.ts'
import { MergeConflict } from '../contract/envelope.ts'
import { GanglionError } from '../contract/errors.ts'
import { authorOfCommit } from '../git/objects/object.ts'
import type { Context } from '../kb/context.ts'
import type { KnowledgeBase } from '../kb/knowledge-base.ts'
import type { CandidateRow } from '../kb/projection/candidate-index.ts'
import { findNeuron } from '../kb/projection/neuron-queries.ts'
import { versionApproved } from '../kb/projection/version-queries.ts'
import { markedPage } from '../kb/writing/merge-candidate.ts'
import { testFileChanges } from '../kb/writing/merge-tests.ts'
import { proposalOf } from '../kb/writing/proposal.ts'
import { formatNeuron, type NeuronFile, parseNeuronFile } from '../markdown/file/neuron-file.ts'
import type { Caller } from '../rules/access/caller.ts'
import type { Candidate } from '../rules/candidates/candidate.ts'
import { unixLines } from '../rules/text/line-endings.ts'
import { awaitingOf } from './approval.ts'
import { findQueued, readQueued } from './find-queued.ts'
import { candidateHeads } from './heads/candidate-refs.ts'
import { toSummary } from './lists/list-candidates.ts'
import { reviewVersion } from './seen.ts'

type Sides = Pick<CandidateDetail, 'before' | 'after' | 'conflicts'>

/** A candidate as a curator reviews it: what it says, what was decided, and what it changes. @throws {GanglionError} `not_found` */
export async function readCandidate(ctx: Context, caller: Caller, candidateId: string): Promise<CandidateDetail> {
  const { kb, row, candidate } = await readQueued(ctx, caller, candidateId)
  const { before, after, ...conflict } =
    row.approval === undefined
      ? await sidesOfProposal(kb, candidate)
      : await sidesOfApproval(kb, candidate, row.approval)
  const sides = { before: before && unixLines(before), after: after && unixLines(after), ...conflict }
  const tests = row.status === 'pending' ? await proposedTests(kb, candidate) : []
  const awaiting = row.status === 'pending' ? await awaitingOf(kb, candidate) : undefined
  return {
    ...toSummary(ctx, kb.identity.id, row),
    content: unixLines(candidate.content),
    metadata: candidate.metadata,
    decisions: [
      ...candidate.decisions.map(({ action, at, by, reason, to }) => ({
        action,
        at,
        by: by.name,
        ...(reason === undefined ? {} : { reason }),
        ...(to === undefined ? {} : { to }),
      })),
      ...(await approvalDecision(kb, row)),
    ],
    ...(awaiting && { awaiting }),
    ...(tests.length > 0 && { tests }),
    ...sides,
    ...(await diffOf(ctx, sides, row)),
  }
}

/** Returns a candidate with its head, and its version for an `If-Match` of a decision: taken first, so that it is never newer than the rest. */
export async function readForReview(
  ctx: Context,
  caller: Caller,
  candidateId: string,
): Promise<{ detail: CandidateDetail; version: string }> {
  const { kb, row } = await findQueued(ctx, caller, candidateId)
  const version = reviewVersion(kb.projection.read, row)
  const detail = await readCandidate(ctx, caller, candidateId)
  // A disk that is full takes no head, and reads go on.
  const head = await candidateHeads(kb, ctx).headOf(candidateId).catch(ctx.onError)
  return { detail: { ...detail, head: head ?? null }, version }
}

/** What a pending candidate changes in the files of answer tests. */
export async function proposedTests(
  { projection, repository }: KnowledgeBase,
  candidate: Candidate,
): Promise<NonNullable<CandidateDetail['tests']>> {
  const view = { sql: projection.read, readText: (oid: string) => repository.readText(oid) }
  const changes = await testFileChanges(view, candidate)
  return changes.map(({ path, before, after }) => ({ path, before, after }))
}

export async function approvalDecision(
  kb: KnowledgeBase,
  { approval }: CandidateRow,
): Promise<CandidateDetail['decisions']> {
  if (approval === undefined) return []
  const { name, at } = authorOfCommit((await kb.repository.read(approval.commit)).data)
  return [{ action: 'approve', at: at.toISOString(), by: name }]
}

/** Returns what approval would change, of whole pages where one was proposed. Where that conflicts with main, the conflict is marked. */
async function sidesOfProposal(kb: KnowledgeBase, candidate: Candidate): Promise<Sides> {
  const view = { sql: kb.projection.read, readText: (oid: string) => kb.repository.readText(oid), parser: kb.parser }
  const isPage = candidate.frontMatter !== null
  if (candidate.target === null) {
    return { before: null, after: isPage ? (await proposalOf(view, candidate)).text : candidate.content }
  }
  const target = findNeuron(view.sql, candidate.target)
  if (target === undefined || candidate.base === null) {
    return { before: null, after: isPage && target === undefined ? (await proposalOf(view, candidate)).text : null }
  }
  const current = await view.readText(target.blob)
  const before = isPage ? current : parseNeuronFile(current).content
  try {
    if (candidate.removes || isPage) return { before, after: (await proposalOf(view, candidate)).text }
    return shownSides(current, (await proposalOf(view, candidate)).text ?? '')
  } catch (error) {
    if (!(error instanceof GanglionError)) throw error
    if (error.code === 'target_unreadable') return { before, after: null }
    if (error.code !== 'merge_conflict') throw error
    const conflicts = z.array(MergeConflict).parse(error.details.conflicts)
    if (candidate.removes) return { before, after: null, conflicts }
    const marked = await markedPage(view, candidate, target)
    return { before, after: isPage ? marked : parseNeuronFile(marked).content, conflicts }
  }
}

async function sidesOfApproval(
  kb: KnowledgeBase,
  { frontMatter }: Candidate,
  { seqId, commit }: NonNullable<CandidateRow['approval']>,
): Promise<Sides> {
  const { read: sql } = kb.projection
  const { before, after } = versionApproved(sql, seqId, commit)
  const pageOf = async (blob: string | null | undefined) => (blob == null ? null : kb.repository.readText(blob))
  const sides = { before: await pageOf(before?.blob), after: await pageOf(after?.blob) }
  return frontMatter === null ? shownSides(sides.before, sides.after) : sides
}

/** The contents of two pages, below their titles and tags where those differ. */
function shownSides(before: string | null, after: string | null): Sides {
  const [old, page] = [before, after].map((text) => (text === null ? null : parseNeuronFile(text)))
  if (old == null || page == null) return { before: old?.content ?? null, after: page?.content ?? null }
  const headOf = ({ fields: { title, tags } }: NeuronFile) => ({ title, tags })
  const isSame = isDeepStrictEqual(headOf(old), headOf(page))
  const shown = (file: NeuronFile) => (isSame ? file.content : formatNeuron(headOf(file), file.content))
  return { before: shown(old), after: shown(page) }
}

async function diffOf(
  ctx: Context,
  { before, after: proposed }: Sides,
  { removes }: CandidateRow,
): Promise<Pick<CandidateDetail, 'diff' | 'diffTruncated'>> {
  const after = proposed ?? (removes ? '' : null)
  if (after === null) return { diff: '' }
  const { diff, isTruncated } = await ctx.threads.of(DiffPool).diff(before, after)
  return isTruncated ? { diff, diffTruncated: true } : { diff }
}
