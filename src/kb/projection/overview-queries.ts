import { DatabaseSync } from 'node:sqlite'
import type { Zone } from '../../contract/vocabulary.ts'
import { isInternal } from '../../rules/access/audience.ts'
import { type AllTables, type MainTables, type ProjectionHeads, tagStore } from './projection.ts'
import { projectionVersion } from './projection-schema.ts'

type Sql = MainTables

/** Number of all Neurons. `open`: number of those that are not internal, for each audience. */
export type NeuronCounts = { total: number; open: { audience: string[] | undefined; count: number }[] }

/** Number of pending candidates by zone; `null`: without a zone. */
export type WaitingCounts = { zone: Zone | null; count: number }[]

export function countNeurons(sql: Sql): NeuronCounts {
  const counts = new Map<unknown, number>()
  for (const { audience, count } of sql.all`SELECT audience, count(*) AS count FROM neurons GROUP BY audience`) {
    counts.set(audience, Number(count))
  }
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0)
  const hidden = sql.all`SELECT audience, tags FROM neurons
    WHERE seq_id IN (SELECT seq_id FROM tags WHERE key = 'internal' OR key GLOB 'internal/*')`
  for (const { audience, tags } of hidden) {
    // The key of a tag folds more than the rule for internal tags does.
    if (isInternal(JSON.parse(String(tags)))) counts.set(audience, (counts.get(audience) ?? 0) - 1)
  }
  const open = [...counts].map(([audience, count]) => ({
    audience: audience === null ? undefined : (JSON.parse(String(audience)) as string[]),
    count,
  }))
  return { total, open }
}

export function countWaiting(sql: AllTables): WaitingCounts {
  const rows = sql.all`SELECT zone, count(*) AS count FROM candidates WHERE status = 'pending' GROUP BY zone`
  return rows.map(({ zone, count }) => ({ zone: zone as Zone | null, count: Number(count) }))
}

export function pendingFigures(sql: AllTables): { count: number; oldest: string | null } {
  const row = sql.get`SELECT count(*) AS count, min(created_at) AS oldest FROM candidates WHERE status = 'pending'`
  return { count: Number(row?.count ?? 0), oldest: row?.oldest == null ? null : String(row.oldest) }
}

/**
 * Reads a projection's file without opening its knowledge base, if the tables stand for these commits.
 * @returns undefined if they do not, or the file is missing, damaged or of another version
 */
export function readProjectionAt<Result>(
  file: string,
  heads: ProjectionHeads | 'any',
  work: (sql: AllTables) => Result,
): Result | undefined {
  try {
    using db = new DatabaseSync(file, { readOnly: true, timeout: 1_000 })
    if (db.prepare('PRAGMA user_version').get()?.user_version !== projectionVersion) return undefined
    db.exec('BEGIN')
    const sql = tagStore(db, 10)
    const head = (ref: string) => sql.get`SELECT value FROM meta WHERE key = ${ref}`?.value
    const isThere = heads === 'any' || (head('main') === heads.main && head('queue') === heads.queue)
    return isThere ? work(sql) : undefined
  } catch {
    // Opening the knowledge base repairs it, or reports the problem.
    return undefined
  }
}
