import type { Context } from '../../context.ts'
import { findCandidate } from '../../store/projection/candidate-index.ts'
import type { Caller } from '../caller.ts'
import { kbOfCandidate } from '../kb-access.ts'
import { requireCurator } from './require-curator.ts'

/** Whether an edit has become a candidate. @throws {GanglionError} `insufficient_role`, `not_found` where there is no such knowledge base */
export async function isSubmitted(ctx: Context, caller: Caller, candidateId: string): Promise<boolean> {
  requireCurator(caller)
  const kb = await kbOfCandidate(ctx, caller.tenantId, candidateId)
  return findCandidate(kb.projection.read, candidateId) !== undefined
}
