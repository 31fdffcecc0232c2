import type { CandidateStatus, Zone } from '../contract/vocabulary.ts'
import type { Context } from '../kb/context.ts'
import { readQueued } from '../queue/find-queued.ts'
import { approvalDecision } from '../queue/read-candidate.ts'
import type { Caller } from '../rules/access/caller.ts'
import { lastVerdict } from '../rules/candidates/candidate.ts'

export type ReviewOutcome = {
  id: string
  title: string
  kb: string
  status: CandidateStatus
  zone: Zone | null
  /** seqId of the Neuron that it became, or removed. */
  seqId?: string
  isRemoval: boolean
  /** True if its last event was an approval, and others must approve it, too. */
  isVoted: boolean
  /** True if its last event was a new version, as when others must approve the edits of an approval. */
  isRevised: boolean
  /** Author of the last decision, if there is one. */
  by?: string
  at?: string
}

export async function readOutcome(ctx: Context, caller: Caller, candidateId: string): Promise<ReviewOutcome> {
  const { kb, row, candidate } = await readQueued(ctx, caller, candidateId)
  const { id, title, status, zone, approval, removes: isRemoval } = row
  const [approved] = await approvalDecision(kb, row)
  const verdict = lastVerdict(candidate)
  const last = status === 'pending' ? candidate.decisions.at(-1)?.action : undefined
  const decision = approved ?? (verdict && { by: verdict.by.name, at: verdict.at })
  return {
    ...{ id, title, status, zone, isRemoval },
    isVoted: last === 'approve',
    isRevised: last === 'revise',
    kb: kb.identity.slug,
    ...(approval === undefined ? {} : { seqId: approval.seqId }),
    ...(decision === undefined ? {} : { by: decision.by, at: decision.at }),
  }
}
