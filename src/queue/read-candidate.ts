import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { DiffPool } from '../compare/diff-pool.ts'
import type { CandidateDetail } from '../contract/candidates.ts'
import { MergeConflict } from '../contract/envelope.ts'
import { GanglionError, ValidationError } from '../contract/errors.ts'
import { authorOfCommit } from '../git/objects/object.ts'
import type { Context } from '../kb/context.ts'
import type { KnowledgeBase } from '../kb/knowledge-base.ts'
import type { CandidateRow } from '../kb/projection/candidate-index.ts'
import { findNeuron } from '../kb/projection/neuron-queries.ts'
import { versionApproved } from '../kb/projection/version-queries.ts'
import { markedPage, testFileChanges } from '../kb/writing/merge-candidate.ts'
import { proposalOf } from '../kb/writing/proposal.ts'
import { formatNeuron, type NeuronFile, parseNeuronFile } from '../markdown/file/neuron-file.ts'
import type { Caller } from '../rules/access/caller.ts'
import type { Candidate } from '../rules/candidates/candidate.ts'
import { unixLines } from '../rules/text/line-endings.ts'
import { awaitingOf } from './approval.ts'
import { findQueued, readQueued } from './find-queued.ts'
import { candidateHeads } from './heads/candidate-refs.ts'
import { reviewVersion } from './heads/judged-head.ts'
import { toSummary } from './lists/list-candidates.ts'

type Sides = Pick<CandidateDetail, 'before' | 'after' | 'conflicts'>

/** Returns a candidate for review: its content, decisions, and changes. @throws {GanglionError} `not_found` */
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

/**
 * Returns a candidate with its head, and its version for the `If-Match` of a decision. The version is read first, so that it is never newer
 * than the rest.
 */
export async function readForReview(
  ctx: Context,
  caller: Caller,
  candidateId: string,
): Promise<{ detail: CandidateDetail; version: string }> {
  const { kb, row } = await findQueued(ctx, caller, candidateId)
  const version = reviewVersion(kb.projection.read, row)
  const detail = await readCandidate(ctx, caller, candidateId)
  // A full disk cannot store a head, but reads continue.
  const head = await candidateHeads(kb, ctx).headOf(candidateId).catch(ctx.onError)
  return { detail: { ...detail, head: head ?? null }, version }
}

/** Returns the changes of a pending candidate in the files of answer tests. */
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

/** Returns the changes of an approval, of whole pages if one was proposed. A conflict with main is marked. */
async function sidesOfProposal(kb: KnowledgeBase, candidate: Candidate): Promise<Sides> {
  const view = { sql: kb.projection.read, readText: (oid: string) => kb.repository.readText(oid), parser: kb.parser }
  const isPage = candidate.frontMatter !== null
  const target = candidate.target === null ? undefined : findNeuron(view.sql, candidate.target)
  const current = target === undefined ? undefined : await view.readText(target.blob)
  const hasBoth = current !== undefined && candidate.base !== null
  const before = !hasBoth ? null : isPage ? current : parseNeuronFile(current).content
  try {
    if (!hasBoth && !isPage) return { before, after: candidate.target === null ? candidate.content : null }
    if (!hasBoth && target !== undefined) return { before, after: null }
    const { text } = await proposalOf(view, candidate)
    return !hasBoth || candidate.removes || isPage ? { before, after: text } : shownSides(current, text ?? '')
  } catch (error) {
    // A record written by another program may have a target, path or metadata that makes no page.
    if (!(error instanceof GanglionError || error instanceof ValidationError)) throw error
    if (!(error instanceof GanglionError) || error.code !== 'merge_conflict') return { before, after: null }
    const conflicts = z.array(MergeConflict).parse(error.details.conflicts)
    if (candidate.removes || target === undefined) return { before, after: null, conflicts }
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

/** Returns the contents of two pages, below their titles and tags if those differ. */
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
