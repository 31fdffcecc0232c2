import { findCandidate } from '../../store/projection/candidate-index.ts'
import type { Caller } from '../caller.ts'
import type { Ganglion } from '../ganglion.ts'
import { requireCurator } from './require-curator.ts'

/** Whether an edit has become a candidate. @throws {GanglionError} `insufficient_role`, `not_found` where there is no such knowledge base */
export async function isSubmitted(ganglion: Ganglion, caller: Caller, candidateId: string): Promise<boolean> {
  requireCurator(caller)
  const kb = await ganglion.kbOfCandidate(caller.tenantId, candidateId)
  return findCandidate(kb.projection.read, candidateId) !== undefined
}
