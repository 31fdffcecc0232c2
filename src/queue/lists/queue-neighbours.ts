import { candidateStatuses } from '../../contract/vocabulary.ts'
import type { Context } from '../../kb/context.ts'
import type { CandidateRow } from '../../kb/projection/candidate-index.ts'
import { countByZone, type QueuePlace, queuePosition } from '../../kb/projection/candidate-queue.ts'
import type { Caller } from '../../rules/access/caller.ts'
import { findQueued } from '../find-queued.ts'
import { seenOf } from '../seen.ts'
import type { QueueView } from './list-queue.ts'
import { pageAcross, type QueuedKb, queuedKbs } from './queue-pages.ts'

/** Candidates before and after one in a view of the queue, by id, and their number: see `QueueCounts`. */
export type Neighbours = { previous: string | undefined; next: string | undefined; count: number }

/** Candidate, and the `seenOf` value of a page that shows it now. */
export type Next = { id: string; seen: string }

/** Returns the candidate after one, which may be decided already: its position remains. @throws {GanglionError} `not_found` */
export async function nextInQueue(
  ctx: Context,
  caller: Caller,
  candidateId: string,
  { kb, ...filter }: QueueView,
): Promise<Next | undefined> {
  const { row } = await findQueued(ctx, caller, candidateId)
  const kbs = await queuedKbs(ctx, caller, kb)
  const [next] = await pageAcross(kbs, filter, { after: queuePosition(row) }, 1)
  const seen = await next?.kb.read((sql) => seenOf(sql, next.row))
  return next && seen !== undefined ? { id: next.row.id, seen } : undefined
}

export async function neighboursOf(
  ctx: Context,
  caller: Caller,
  row: CandidateRow,
  { kb, ...filter }: QueueView,
): Promise<Neighbours> {
  const kbs = await queuedKbs(ctx, caller, kb)
  const at = queuePosition(row)
  const beside = async (place: QueuePlace) => (await pageAcross(kbs, filter, place, 1))[0]?.row.id
  const [previous, next] = [await beside({ before: at }), await beside({ after: at })]
  return { previous, next, count: await countAll(kbs, filter) }
}

async function countAll(kbs: readonly QueuedKb[], filter: Omit<QueueView, 'kb'>): Promise<number> {
  const statuses = filter.status === undefined ? candidateStatuses : [filter.status]
  let sum = 0
  for (const kb of kbs) {
    const zones = await kb.read((sql) => statuses.map((status) => countByZone(sql, { ...filter, status })))
    for (const count of (zones ?? []).flatMap((each) => Object.values(each))) sum += count
  }
  return sum
}
