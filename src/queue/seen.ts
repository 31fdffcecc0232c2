import { GanglionError } from '../contract/errors.ts'
import { type CandidateRow, findCandidate } from '../kb/projection/candidate-index.ts'
import { findNeuron } from '../kb/projection/neuron-queries.ts'
import type { Projection } from '../kb/projection/projection.ts'

type Sql = Projection['read']

/** Names a candidate's record and the page that it would change, as they are now: what somebody who looks at it has seen. */
export function seenOf(sql: Sql, { blob, target }: Pick<CandidateRow, 'blob' | 'target'>): string {
  const page = target === null ? undefined : findNeuron(sql, target)?.blob
  return page === undefined ? blob : `${blob}.${page}`
}

/** @throws {GanglionError} `not_pending` where it was decided on since, `stale_head` where it or its target has changed. */
export function checkSeen(sql: Sql, candidateId: string, seen: string): void {
  const row = findCandidate(sql, candidateId)
  if (row === undefined) throw new GanglionError('not_found')
  if (row.status !== 'pending') throw new GanglionError('not_pending')
  if (seenOf(sql, row) !== seen) throw new GanglionError('stale_head')
}
