import { GanglionError } from '../contract/errors.ts'
import { type CandidateRow, findCandidate } from '../kb/projection/candidate-index.ts'
import { findNeuron } from '../kb/projection/neuron-queries.ts'
import type { Projection } from '../kb/projection/projection.ts'

type Sql = Projection['read']

/** Returns an identifier of a candidate's present record and of the page that it would change, as a reviewer sees them. */
export function seenOf(sql: Sql, { blob, target }: Pick<CandidateRow, 'blob' | 'target'>): string {
  const page = target === null ? undefined : findNeuron(sql, target)?.blob
  return page === undefined ? blob : `${blob}.${page}`
}

/**
 * Returns an identifier of a candidate's record, the page that it would change and its approval: the version with which the `ETag` of a
 * candidate begins. It changes with each comment, version, decision and change of the page.
 */
export function reviewVersion(sql: Sql, row: Pick<CandidateRow, 'blob' | 'target' | 'approval'>): string {
  return row.approval === undefined ? seenOf(sql, row) : `${seenOf(sql, row)}.${row.approval.commit}`
}

/** True if an `If-Match` lists a version: `*`, or a tag of {@link reviewVersion} and a hash, weak or not. */
export function isListed(ifMatch: string, version: string): boolean {
  const tags = ifMatch.split(',').map((tag) => tag.trim())
  return tags.some((tag) => tag === '*' || /^(?:W\/)?"(.+)\.[\w-]+"$/.exec(tag)?.[1] === version)
}

/** Thrown if the `If-Match` of a decision does not match: `stale_head` with the present `head`, or `not_pending`. */
export class PreconditionFailed extends GanglionError {
  override readonly status = 412
}

/** @throws {GanglionError} `not_pending` if it was decided since, `stale_head` if it or its target has changed */
export function checkSeen(sql: Sql, candidateId: string, seen: string): void {
  const row = findCandidate(sql, candidateId)
  if (row === undefined) throw new GanglionError('not_found')
  if (row.status !== 'pending') throw new GanglionError('not_pending')
  if (seenOf(sql, row) !== seen) throw new GanglionError('stale_head')
}
