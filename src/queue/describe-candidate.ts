import { z } from 'zod'
import type { CandidateDetail } from '../contract/candidates.ts'
import { type Awaiting, MergeConflict } from '../contract/envelope.ts'
import { type ErrorCode, GanglionError, ValidationError } from '../contract/errors.ts'
import { authorOfCommit } from '../git/objects/object.ts'
import type { Context } from '../kb/context.ts'
import { kbOfCandidate } from '../kb/kb-access.ts'
import type { KnowledgeBase } from '../kb/knowledge-base.ts'
import { type CandidateRow, findCandidate } from '../kb/projection/candidate-index.ts'
import { findNeuron } from '../kb/projection/neuron-queries.ts'
import { versionApproved } from '../kb/projection/version-queries.ts'
import { markedPage, testFileChanges } from '../kb/writing/merge-candidate.ts'
import { type ProposalView, proposalOf } from '../kb/writing/proposal.ts'
import { parseCandidate } from '../markdown/file/candidate-file.ts'
import type { Caller } from '../rules/access/caller.ts'
import type { Actor, Candidate } from '../rules/candidates/candidate.ts'
import { decisionOf, proposalViewOf } from './approval.ts'
import { namesTakenFrom } from './taken-names.ts'

type Queued = { kb: KnowledgeBase; row: CandidateRow }
type QueuedRecord = Queued & { candidate: Candidate }

/** Change of a page that a candidate proposes, or has made. Pages are whole files. */
export type PageChange = {
  /** Page before the change. Undefined for a new page. */
  before?: string | undefined
  /** Page after the change, with markers around conflicts. Undefined if the page is removed, or cannot be made. */
  after?: string | undefined
  title: string
  path?: string | undefined
  /** Present path of the page, if the change moves it. */
  movedFrom?: string | undefined
  /** Commit of the version in `before`. */
  commit?: string | undefined
  /** Error that prevents an approval of the candidate as it is. */
  problem?: ErrorCode
  conflicts?: z.infer<typeof MergeConflict>[]
}

/** Everything that a candidate's record and its comparison with main show a curator. */
export type DescribedCandidate = QueuedRecord & {
  change: PageChange
  decisions: CandidateDetail['decisions']
  /** Changes of answer test files, while the candidate is pending. */
  tests: NonNullable<CandidateDetail['tests']>
  /** Approvals that `kb.yaml` still requires, and the votes that count. */
  awaiting?: Awaiting | undefined
  votes: ReadonlyMap<string, Actor>
}

/** Finds a candidate of the caller's tenant. @throws {GanglionError} `not_found` */
export async function findQueued(ctx: Context, { tenantId }: Caller, candidateId: string): Promise<Queued> {
  const kb = await kbOfCandidate(ctx, tenantId, candidateId)
  const row = findCandidate(kb.projection.read, candidateId)
  if (row === undefined) throw new GanglionError('not_found')
  return { kb, row }
}

/**
 * Finds a candidate of the caller's tenant, and reads its record, for curators, whom the row warns of taken names.
 * @throws {GanglionError} `not_found`
 */
export async function readQueued(ctx: Context, caller: Caller, candidateId: string): Promise<QueuedRecord> {
  const { kb, row } = await findQueued(ctx, caller, candidateId)
  const candidate = parseCandidate(await kb.repository.readText(row.blob))
  const warnings = [...row.warnings, ...namesTakenFrom(kb.projection.read, row, candidate)]
  return { kb, row: { ...row, warnings }, candidate }
}

/** Describes a candidate for a curator. @throws {GanglionError} `not_found` */
export async function describeCandidate(
  ctx: Context,
  caller: Caller,
  candidateId: string,
): Promise<DescribedCandidate> {
  const queued = await readQueued(ctx, caller, candidateId)
  const { kb, row, candidate } = queued
  const view = proposalViewOf(kb)
  const isPending = row.status === 'pending'
  const tests = isPending ? await testFileChanges(view, candidate) : []
  return {
    ...queued,
    change: await (row.approval ? approvedChange(view, row.approval, candidate) : proposedChange(view, candidate)),
    decisions: await decisionsOn(queued),
    tests: tests.map(({ path, before, after }) => ({ path, before, after })),
    ...(isPending ? await decisionOf(kb, candidate) : { votes: new Map() }),
  }
}

/** Returns the decisions and comments, with the approval, oldest first. */
export async function decisionsOn({ kb, row, candidate }: QueuedRecord): Promise<CandidateDetail['decisions']> {
  const decisions: CandidateDetail['decisions'] = candidate.decisions.map(({ action, at, by, reason, lines, to }) => ({
    ...{ action, at, by: by.name },
    ...(lines && { lines }),
    ...(reason === undefined ? {} : { reason }),
    ...(to === undefined ? {} : { to }),
  }))
  if (row.approval === undefined) return decisions
  const { name, at } = authorOfCommit((await kb.repository.read(row.approval.commit)).data)
  return [...decisions, { action: 'approve', at: at.toISOString(), by: name }]
}

async function proposedChange(view: ProposalView, candidate: Candidate): Promise<PageChange> {
  const target = candidate.target === null ? undefined : findNeuron(view.sql, candidate.target)
  const before = target && (await view.readText(target.blob))
  const known = { before, title: candidate.title, path: target?.path, commit: target?.commit }
  try {
    const { text, title, path, movedFrom } = await proposalOf(view, candidate)
    return { ...known, title, path, movedFrom, after: text ?? undefined }
  } catch (error) {
    // A record written by another program may have a target, path or metadata that makes no page.
    if (error instanceof ValidationError) return { ...known, problem: 'malformed_request' }
    if (!(error instanceof GanglionError)) throw error
    if (error.code !== 'merge_conflict' || target === undefined) return { ...known, problem: error.code }
    const conflicts = z.array(MergeConflict).parse(error.details.conflicts)
    const after = candidate.removes ? undefined : await markedPage(view, candidate, target)
    return { ...known, after, problem: error.code, conflicts }
  }
}

async function approvedChange(
  { sql, readText }: ProposalView,
  { seqId, commit }: NonNullable<CandidateRow['approval']>,
  { title }: Candidate,
): Promise<PageChange> {
  const { before, after } = versionApproved(sql, seqId, commit)
  const textOf = async (blob: string | null | undefined) => (blob == null ? undefined : readText(blob))
  return {
    ...{ before: await textOf(before?.blob), after: await textOf(after?.blob) },
    ...{ title, path: after?.path, commit: before?.commit },
    movedFrom: before !== undefined && before.path !== after?.path ? before.path : undefined,
  }
}
