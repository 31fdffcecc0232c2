import type { CandidateInput, Warning } from '../contract/candidates.ts'
import type { Context } from '../kb/context.ts'
import { admitted } from '../kb/within-limits.ts'
import type { Caller } from '../rules/access/caller.ts'
import type { Verdict } from '../rules/candidates/candidate.ts'
import { candidateIdFor } from '../rules/candidates/candidate-id.ts'
import { prepareCandidate, type SubmitOptions, toCandidate } from './submit-candidate.ts'

export type CandidatePreview = { verdict: Verdict; warnings?: Warning[] }

/** Returns the policy's verdict on a candidate, and the answer for its sender. Stores nothing. @throws as `submitCandidate` */
export async function previewCandidate(
  ctx: Context,
  caller: Caller,
  input: CandidateInput,
  options: SubmitOptions,
): Promise<CandidatePreview> {
  const kb = await ctx.kb(caller.tenantId, input.knowledgeBaseId)
  const draft = await prepareCandidate(kb, caller, input, options)
  const now = ctx.now()
  const id = candidateIdFor(kb.identity.id, { msecs: now.getTime() })
  const { verdict, told } = await kb.write(async (staging) => {
    const { candidate, told } = await toCandidate(kb, staging, draft, id, now)
    const [passed = candidate] = await admitted(kb, [candidate])
    return { verdict: passed.verdict, told }
  })
  const warnings = [...draft.warnings, ...told]
  return { verdict, ...(warnings.length > 0 && { warnings }) }
}
