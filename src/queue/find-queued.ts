import { GanglionError } from '../contract/errors.ts'
import type { Context } from '../kb/context.ts'
import { kbOfCandidate } from '../kb/kb-access.ts'
import type { KnowledgeBase } from '../kb/knowledge-base.ts'
import type { CandidateRow } from '../kb/projection/candidate-index.ts'
import { findCandidate } from '../kb/projection/candidate-index.ts'
import { parseCandidate } from '../markdown/file/candidate-file.ts'
import type { Caller } from '../rules/access/caller.ts'
import type { Candidate } from '../rules/candidates/candidate.ts'
import { namesTakenFrom } from './taken-names.ts'

type Queued = { kb: KnowledgeBase; row: CandidateRow }

/** Finds a candidate of the caller's tenant. @throws {GanglionError} `not_found` */
export async function findQueued(ctx: Context, { tenantId }: Caller, candidateId: string): Promise<Queued> {
  const kb = await kbOfCandidate(ctx, tenantId, candidateId)
  const row = findCandidate(kb.projection.read, candidateId)
  if (row === undefined) throw new GanglionError('not_found')
  return { kb, row }
}

/**
 * Finds a candidate of the caller's tenant, and reads its record, for curators, whom the row warns of taken names.
 * @throws {GanglionError} `not_found`
 */
export async function readQueued(
  ctx: Context,
  caller: Caller,
  candidateId: string,
): Promise<Queued & { candidate: Candidate }> {
  const { kb, row } = await findQueued(ctx, caller, candidateId)
  const candidate = parseCandidate(await kb.repository.readText(row.blob))
  const warnings = [...row.warnings, ...namesTakenFrom(kb.projection.read, row, candidate)]
  return { kb, row: { ...row, warnings }, candidate }
}
