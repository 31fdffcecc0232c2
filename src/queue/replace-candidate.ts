import type { CandidateInput, CandidateReceipt, CandidateState } from '../contract/candidates.ts'
import { GanglionError, undefinedOn } from '../contract/errors.ts'
import type { Context } from '../kb/context.ts'
import type { KnowledgeBase } from '../kb/knowledge-base.ts'
import { type CandidateRow, findCandidate } from '../kb/projection/candidate-index.ts'
import type { Caller } from '../rules/access/caller.ts'
import { derivedCandidateId } from '../rules/candidates/candidate-id.ts'
import { reviseCandidate, withdrawCandidate, withdrawn } from './revise-candidate.ts'
import { submitCandidate } from './submit-candidate.ts'

/** Subject on which a caller has one pending candidate at most. `at`: its time, ISO 8601. */
export type Subject = { kb: KnowledgeBase; name: string; at: string }

/** Maximum candidates of a caller on a subject: another follows one that was decided, or withdrawn. */
const maxOfSubject = 10

/**
 * Submits a candidate, or revises the pending one that the caller submitted on the same subject. `before`: the latest one until then.
 * @throws {GanglionError} those of `submitCandidate` and `reviseCandidate`; `record_full` after too many candidates on the subject
 */
export async function replaceCandidate(
  ctx: Context,
  caller: Caller,
  subject: Subject,
  input: CandidateInput,
): Promise<CandidateReceipt & { before: CandidateRow | undefined }> {
  const { ids, latest: before } = candidatesOn(caller, subject)
  for (const id of ids.slice(Math.max(0, ids.indexOf(before?.id ?? '')))) {
    const row = findCandidate(subject.kb.projection.read, id)
    if (row?.status === 'dismissed' && row.dismissal === withdrawn) continue
    if (row === undefined) await submitCandidate(ctx, caller, input, { id })
    // Another request may have submitted it with another content.
    const receipt = await reviseCandidate(ctx, caller, id, input).catch(undefinedOn('not_pending'))
    if (receipt !== undefined) return { ...receipt, before }
  }
  throw new GanglionError('record_full', 'This has been changed too often.')
}

/** Withdraws the latest candidate of the caller on a subject. @throws {GanglionError} `not_found`, `not_pending` if it is approved */
export async function withdrawReplaceable(ctx: Context, caller: Caller, subject: Subject): Promise<CandidateState> {
  const { latest } = candidatesOn(caller, subject)
  if (latest === undefined) throw new GanglionError('not_found')
  return withdrawCandidate(ctx, caller, latest.id)
}

function candidatesOn(caller: Caller, { kb, name, at }: Subject) {
  const ids = Array.from({ length: maxOfSubject }, (_, nth) =>
    derivedCandidateId(kb.identity.id, { msecs: Date.parse(at), from: `${caller.id} ${name} ${nth}` }),
  )
  const rows = ids.map((id) => findCandidate(kb.projection.read, id))
  return { ids, latest: rows.findLast((row) => row !== undefined) }
}
