import type { CandidateInput } from '../../../src/contract/candidates.ts'
import { submitCandidate } from '../../../src/queue/submit-candidate.ts'
import type { Console } from '../../console/support.ts'

/** Submits candidates, as an app does that nobody trusts; gives their ids. */
export async function submitted(
  { ctx, kbId, tenantId }: Pick<Console, 'ctx' | 'kbId' | 'tenantId'>,
  candidates: readonly (Partial<CandidateInput> & Pick<CandidateInput, 'title' | 'content'>)[],
): Promise<string[]> {
  const caller = { id: 'key:0', name: 'An app', tenantId, role: 'app', connectors: [] } as const
  const ids: string[] = []
  for (const candidate of candidates) {
    const input = {
      kind: 'external-feed',
      metadata: null,
      confidence: null,
      impactEstimate: null,
      ...candidate,
    } as const
    const receipt = await submitCandidate(ctx, caller, { knowledgeBaseId: kbId, ...input })
    ids.push(receipt.candidateId)
  }
  return ids
}
