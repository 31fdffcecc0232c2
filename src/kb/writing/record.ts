import { GanglionError } from '../../contract/errors.ts'
import type { Staging } from '../../git/staging.ts'
import { parseCandidate, roomInRecord } from '../../markdown/file/candidate-file.ts'
import type { Actor, Candidate, Decision } from '../../rules/candidates/candidate.ts'
import type { KnowledgeBase } from '../knowledge-base.ts'
import { pendingForTarget } from '../projection/candidate-index.ts'
import { freeNumberAfter, highestNumber } from '../projection/version-queries.ts'
import { commitMessage, committer, signatureOf } from '../refs/commit-message.ts'
import { formatSeqFloor, queueRef, seqFloorPath } from '../refs/kb-refs.ts'
import { commitToQueue } from './commits.ts'

const maxComments = 200
/** Bytes of a record that comments and versions of its sender may not use, so that later decisions still fit. */
export const keptForDecisions = 64 * 1024

export async function recordCandidate(
  kb: KnowledgeBase,
  staging: Staging,
  candidate: Candidate,
  verb: 'Propose' | 'Dismiss' | 'Reopen' | 'Comment on' | 'Revise' | 'Ask for changes of' | 'Assign',
): Promise<void> {
  const { id, kind, connector, title, createdBy, createdAt } = candidate
  const { by, at } = candidate.decisions.at(-1) ?? { by: createdBy, at: createdAt }
  const message = commitMessage(`${verb} "${title}"`, { Candidate: id, Kind: kind, Connector: connector })
  await commitToQueue(kb, staging, [candidate], { by, at: new Date(at), message })
}

/** Returns the pending candidates of a connector for a Neuron. Must run within a write. */
export async function pendingRecords(
  kb: KnowledgeBase,
  staging: Staging,
  of: Parameters<typeof pendingForTarget>[1],
): Promise<Candidate[]> {
  const rows = pendingForTarget(kb.projection.write, of)
  return Promise.all(rows.map(async ({ blob }) => parseCandidate(await staging.readText(blob))))
}

export function withDecision(candidate: Candidate, decision: Decision): Candidate {
  const decisions = [...candidate.decisions, decision]
  const isComment = decision.action === 'comment'
  const comments = decisions.filter(({ action }) => action === 'comment').length
  const room = roomInRecord({ ...candidate, decisions }) - (isComment ? keptForDecisions : 0)
  if (room < 0 || (isComment && comments > maxComments)) throw new GanglionError('record_full')
  return { ...candidate, decisions }
}

/** Returns the number of the next seqId: above every assigned one, and above the floor of a restore; never one that main had. */
export function nextNumber({ projection }: KnowledgeBase): number {
  return freeNumberAfter(projection.write, Math.max(highestNumber(projection.write), projection.seqFloor()))
}

/** Returns a function that gives the numbers of the next seqIds. Must run within a write, before any of them is staged. */
export function nextNumbers(kb: KnowledgeBase): () => number {
  let number: number | undefined
  return () => {
    number = number === undefined ? nextNumber(kb) : freeNumberAfter(kb.projection.write, number)
    return number
  }
}

/** Reserves all seqIds up to the number `floor`. Must run within a write. */
export async function raiseSeqFloor(
  kb: KnowledgeBase,
  staging: Staging,
  { floor, actor, at }: { floor: number; actor: Actor; at: Date },
): Promise<void> {
  await staging.commit(queueRef, {
    changes: new Map([[seqFloorPath, formatSeqFloor(floor)]]),
    message: commitMessage(`Begin seqIds above ${floor}`, { 'Knowledge-Base': kb.identity.id }),
    author: signatureOf(actor, at),
    committer: committer(at),
  })
  kb.projection.setSeqFloor(floor)
}
