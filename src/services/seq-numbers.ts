import type { Staging } from '../git/staging.ts'
import type { Actor } from '../knowledge/candidate.ts'
import { highestNumber } from '../store/neuron-queries.ts'
import { commitMessage, committer, signatureOf } from './commit-message.ts'
import { queueRef } from './kb-refs.ts'
import type { KnowledgeBase } from './knowledge-base.ts'
import { formatSeqFloor, seqFloorPath } from './seq-floor.ts'

/** The number of the next seqId: above every one that main ever held, and above the floor of a restore. Within a write. */
export function nextNumber(kb: KnowledgeBase): number {
  return Math.max(highestNumber(kb.projection.write), kb.projection.seqFloor()) + 1
}

/** Lets no seqId be given from now on whose number is `floor` or less. Within a write. */
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
