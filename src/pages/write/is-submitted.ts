import type { Context } from '../../kb/context.ts'
import { kbOfCandidate } from '../../kb/kb-access.ts'
import { findCandidate } from '../../kb/projection/candidate-index.ts'
import type { Caller } from '../../rules/access/caller.ts'
import { requireCurator } from './require-curator.ts'

/** True if an edit has become a candidate. @throws {GanglionError} `insufficient_role`, `not_found` if there is no such knowledge base */
export async function isSubmitted(ctx: Context, caller: Caller, candidateId: string): Promise<boolean> {
  requireCurator(caller)
  const kb = await kbOfCandidate(ctx, caller.tenantId, candidateId)
  return findCandidate(kb.projection.read, candidateId) !== undefined
}
