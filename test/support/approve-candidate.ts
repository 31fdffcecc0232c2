import type { Approval } from '../../src/contract/candidates.ts'
import { approveCandidate as vote } from '../../src/queue/decide-candidate.ts'

/** Approves a candidate in a knowledge base where one approval is enough. */
export async function approveCandidate(...args: Parameters<typeof vote>): Promise<Approval> {
  const approval = await vote(...args)
  if (approval.status === 'pending') throw new Error(`More approvals are needed: ${JSON.stringify(approval.awaiting)}`)
  return approval
}
