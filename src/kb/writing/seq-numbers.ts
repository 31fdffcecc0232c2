import type { Staging } from '../../git/staging.ts'
import type { Actor } from '../../rules/candidates/candidate.ts'
import type { KnowledgeBase } from '../knowledge-base.ts'
import { freeNumberAfter, highestNumber } from '../projection/version-queries.ts'
import { commitMessage, committer, signatureOf } from '../refs/commit-message.ts'
import { queueRef } from '../refs/kb-refs.ts'
import { formatSeqFloor, seqFloorPath } from '../refs/seq-floor.ts'

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
