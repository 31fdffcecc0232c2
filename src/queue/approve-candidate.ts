import type { Approval, AwaitedApproval } from '../contract/candidates.ts'
import { GanglionError } from '../contract/errors.ts'
import { type Context, emitAct } from '../kb/context.ts'
import { kbOfCandidate } from '../kb/kb-access.ts'
import { findCandidate } from '../kb/projection/candidate-index.ts'
import type { ApprovalEdit } from '../kb/writing/proposal.ts'
import { actorOf, type Caller } from '../rules/access/caller.ts'
import { approveStaged, isEdit } from './approval.ts'
import { isApprovedBy, type JudgedHead, writeJudged } from './heads/judged-head.ts'

/**
 * Approves a candidate as a curator: it becomes one commit on main, or waits for the approvals of others. Repeating it returns the same
 * answer. `head`: reviewed commit of the candidate's ref; with `seen` or `ifMatch`, later changes are rejected.
 * @throws {PreconditionFailed}
 * @throws {GanglionError} `not_found`, `not_pending`, `approval_needed`, `target_not_found`, `target_unreadable`, `stale_head` with the
 * present `head`, and `merge_conflict` with `conflicts` and the target's present `commit`; the candidate then stays pending
 */
export async function approveCandidate(
  ctx: Context,
  caller: Caller,
  candidateId: string,
  { head, seen, ifMatch, ...edit }: ApprovalEdit & JudgedHead,
): Promise<Approval | AwaitedApproval> {
  const kb = await kbOfCandidate(ctx, caller.tenantId, candidateId)
  const actor = actorOf(caller)
  const { isAgain, ...approval } = await writeJudged(
    ctx,
    kb,
    { candidateId, decider: actor, head, seen, ifMatch },
    async (staging) => {
      const { approval } = findCandidate(kb.projection.write, candidateId) ?? {}
      const isAgain = approval !== undefined
      // An edit of a candidate that others have approved would be lost.
      if (isAgain && isEdit(edit) && !(await isApprovedBy(staging, approval, actor))) {
        throw new GanglionError('not_pending')
      }
      return { isAgain, ...(await approveStaged(kb, staging, candidateId, edit, actor, ctx.now())) }
    },
  )
  if ('awaiting' in approval) return emitAct(ctx, 'approve', { candidateId, status: 'pending', ...approval })
  const answer = { candidateId, status: 'approved' as const, ...approval }
  return isAgain ? answer : emitAct(ctx, 'approve', answer)
}
