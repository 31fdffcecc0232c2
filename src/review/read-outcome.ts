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
  /** Of the Neuron that it became, or that it removed. */
  seqId?: string
  isRemoval: boolean
  /** Whether an approval was the last thing that happened to it, and others have to approve it, too. */
  isVoted: boolean
  /** Whether a new version was the last thing, as where others have to approve what an approval edits. */
  isRevised: boolean
  /** The last decision, if there is one. */
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
