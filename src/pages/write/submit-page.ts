import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { MergeConflict } from '../../contract/envelope.ts'
import { type ErrorCode, GanglionError, ValidationError } from '../../contract/errors.ts'
import { faultText } from '../../contract/faults.ts'
import type { Oid } from '../../git/objects/object.ts'
import type { Staging } from '../../git/staging.ts'
import type { KnowledgeBase } from '../../kb/knowledge-base.ts'
import { findCandidate } from '../../kb/projection/candidate-index.ts'
import { areTogether, waitingOfConsole } from '../../kb/projection/candidate-queue.ts'
import { recordCandidate, withDecision } from '../../kb/writing/commits.ts'
import { proposalOf } from '../../kb/writing/proposal.ts'
import { gitCandidate, gitFingerprint, type PushedNeuron, pageParts, revised } from '../../kb/writing/pushed-neurons.ts'
import { parseCandidate } from '../../markdown/file/candidate-file.ts'
import { approveStaged, proposalViewOf } from '../../queue/approval.ts'
import type { Actor, Candidate } from '../../rules/candidates/candidate.ts'
import { candidateBelongsTo, candidateIdFor } from '../../rules/candidates/candidate-id.ts'
import { maxWaiting } from './open-page.ts'

const connector = 'console'

export type PageSubmission = {
  /** Unused id, or that of an earlier submission of the same edit, whose content is then replaced while it is pending. */
  candidateId: string
  neuron: PushedNeuron
  /** Blob of the edited version. */
  base: Oid | null
  /** Note for reviewers. */
  note?: string | undefined
  /** Reason why it is pending. */
  reason?: string
}

/** Outcome: the page reached main, or is pending. `refusal`: reason why main could not take it. */
export type Submitted = { candidateId: string } & (
  | { status: 'approved'; seqId: string; commit: string }
  | { status: 'pending'; refusal?: Refusal /** Missing approvals. */; awaiting?: unknown }
)

export type Refusal = { code: ErrorCode | 'invalid'; message: string; conflicts: z.infer<typeof MergeConflict>[] }

/**
 * Puts a page on the queue in its author's name, and with `publish` approves it in the same write. A page that cannot be approved stays on
 * the queue, so that nothing is lost. Must run within a group commit.
 * @throws {GanglionError} `queue_full`, `record_full`, `not_found` for an id of another knowledge base or another author
 */
export async function submitPage(
  kb: KnowledgeBase,
  staging: Staging,
  submission: PageSubmission,
  { actor, at, publish }: { actor: Actor; at: Date; publish: boolean },
): Promise<Submitted> {
  const { seqId, before } = submission.neuron
  const candidateId = await putCandidate(kb, staging, submission, { actor, at })
  const row = findCandidate(kb.projection.write, candidateId)
  if (row === undefined) throw new GanglionError('internal')
  if (row.approval !== undefined) return approved(candidateId, row.approval)
  try {
    // An edit of a page that was removed meanwhile must not restore it.
    if (seqId !== undefined && before === undefined) throw new GanglionError('target_not_found')
    if (publish) {
      const approval = await approveStaged(kb, staging, candidateId, { by: actor, at })
      return 'awaiting' in approval ? { candidateId, status: 'pending', ...approval } : approved(candidateId, approval)
    }
    await proposalOf(proposalViewOf(kb, staging), parseCandidate(await staging.readText(row.blob)))
    return { candidateId, status: 'pending' }
  } catch (error) {
    if (error instanceof GanglionError && error.code === 'approval_needed') {
      return { candidateId, status: 'pending', awaiting: error.details.awaiting }
    }
    return { candidateId, status: 'pending', refusal: refusalOf(error) }
  }
}

function approved(candidateId: string, { seqId, commit }: { seqId: string; commit: string }): Submitted {
  return { candidateId, status: 'approved', seqId, commit }
}

function refusalOf(error: unknown): Refusal {
  if (error instanceof ValidationError) {
    return { code: 'invalid', message: faultText(error), conflicts: [] }
  }
  if (!(error instanceof GanglionError)) throw error
  const { code, message, details } = error
  return { code, message, conflicts: z.array(MergeConflict).default([]).parse(details.conflicts) }
}

/** Records a submission unless it is recorded already. Returns the candidate's id. */
async function putCandidate(
  kb: KnowledgeBase,
  staging: Staging,
  { candidateId, neuron, base, note, reason = 'written in the console' }: PageSubmission,
  { actor, at }: { actor: Actor; at: Date },
): Promise<string> {
  if (!candidateBelongsTo(candidateId, kb.identity.id)) throw new GanglionError('not_found')
  const { write: sql } = kb.projection
  const parts = await pageParts(neuron, (oid) => staging.readText(oid))
  const change = {
    ...parts,
    base,
    metadata: JSON.stringify({ connector, path: neuron.path, fingerprint: gitFingerprint(neuron) }),
  }
  const row = findCandidate(sql, candidateId)
  const known = row && parseCandidate(await staging.readText(row.blob))
  if (known !== undefined && !isOwn(known, neuron, actor)) throw new GanglionError('not_found')
  const isSame = known !== undefined && isDeepStrictEqual({ ...known, ...change }, known)
  if (isSame && row?.status !== 'dismissed') return candidateId

  const noted = (candidate: Candidate) =>
    note === undefined
      ? candidate
      : withDecision(candidate, { action: 'comment', at: at.toISOString(), by: actor, reason: note })
  if (known !== undefined && row?.status === 'pending') {
    const candidate = revised(known, change, { by: actor, at })
    await recordCandidate(kb, staging, noted(candidate), 'Revise')
    return candidateId
  }
  const id = known === undefined ? candidateId : candidateIdFor(kb.identity.id, { msecs: at.getTime() })
  const origin = { door: connector, by: actor.id } as const
  const made = gitCandidate(kb.identity.id, neuron, { id, parts, origin, reason, actor, at })
  const mate = waitingOfConsole(sql, actor.id, maxWaiting).find((one) => areTogether(one.id, id))
  const candidate = {
    ...made,
    ...change,
    ...(mate && { createdAt: mate.createdAt }),
  }
  await recordCandidate(kb, staging, noted(candidate), 'Propose')
  return id
}

/** True if the same person made a candidate from the same page in the console. */
function isOwn(known: Candidate, { seqId, text }: PushedNeuron, { id }: Actor): boolean {
  const isSameTarget = known.target === (seqId ?? null) && known.removes === (text === null)
  return isSameTarget && known.connector === connector && known.createdBy.id === id
}
