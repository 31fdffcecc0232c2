import { highestNumber } from '../store/neuron-queries.ts'
import type { KnowledgeBase } from './knowledge-base.ts'

/** The number of the next seqId: above every one that main ever held, and above the floor of a restore. Within a write. */
export function nextNumber(kb: KnowledgeBase): number {
  return Math.max(highestNumber(kb.projection.write), kb.projection.seqFloor()) + 1
}
