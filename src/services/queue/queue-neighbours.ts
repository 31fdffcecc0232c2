import { candidateStatuses } from '../../contract/vocabulary.ts'
import type { CandidateRow } from '../../store/projection/candidate-index.ts'
import { countByZone, type QueuePlace, queuePosition } from '../../store/projection/candidate-queue.ts'
import type { Caller } from '../caller.ts'
import type { Ganglion } from '../ganglion.ts'
import type { KnowledgeBase } from '../knowledge-base/knowledge-base.ts'
import { seenOf } from '../review/seen.ts'
import { findQueued } from './find-queued.ts'
import type { QueueView } from './list-queue.ts'
import { pageAcross, queuedKbs } from './queue-pages.ts'

/** The candidates beside one in a view of the queue, by id, and how many are in it: see `QueueCounts`. */
export type Neighbours = { previous: string | undefined; next: string | undefined; count: number }

/** A candidate, and what a page that shows it as it is now has seen: see `seenOf`. */
export type Next = { id: string; seen: string }

/** The candidate that follows one, which may be decided already: its place stays. @throws {GanglionError} `not_found` */
export async function nextInQueue(
  ganglion: Ganglion,
  caller: Caller,
  candidateId: string,
  { kb, ...filter }: QueueView,
): Promise<Next | undefined> {
  const { row } = await findQueued(ganglion, caller, candidateId)
  const kbs = await queuedKbs(ganglion, caller, kb)
  const [next] = pageAcross(kbs, filter, { after: queuePosition(row) }, 1)
  return next && { id: next.row.id, seen: seenOf(next.kb.projection.read, next.row) }
}

export async function neighboursOf(
  ganglion: Ganglion,
  caller: Caller,
  row: CandidateRow,
  { kb, ...filter }: QueueView,
): Promise<Neighbours> {
  const kbs = await queuedKbs(ganglion, caller, kb)
  const at = queuePosition(row)
  const beside = (place: QueuePlace) => pageAcross(kbs, filter, place, 1)[0]?.row.id
  return { previous: beside({ before: at }), next: beside({ after: at }), count: countAll(kbs, filter) }
}

function countAll(kbs: readonly KnowledgeBase[], filter: Omit<QueueView, 'kb'>): number {
  const statuses = filter.status === undefined ? candidateStatuses : [filter.status]
  const counts = kbs.flatMap(({ projection }) =>
    statuses.flatMap((status) => Object.values(countByZone(projection.read, { ...filter, status }))),
  )
  return counts.reduce((sum, count) => sum + count, 0)
}
