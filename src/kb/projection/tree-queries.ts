import type { MainTables } from './projection.ts'
import { rowsInBatches } from './sql-query.ts'

type Sql = MainTables

/** Neuron in its folder, with the fields that decide who may see it. */
export type TreeRow = { path: string; seqId: string; title: string; tags: string[]; audience: string[] | undefined }

/** Returns the first Neuron whose path is after one and before another, in byte order. */
export function nextNeuron(sql: Sql, { after, before }: { after: string; before: string }): TreeRow | undefined {
  const row = sql.get`SELECT files.path, seq_id, title, tags, audience FROM files CROSS JOIN neurons USING (seq_id)
    WHERE files.path > ${after} AND files.path < ${before} AND neurons.path = files.path ORDER BY files.path LIMIT 1`
  return row === undefined ? undefined : toTreeRow(row)
}

/** Returns every Neuron in the order of seqIds, read in batches. */
export function everyTreeRow(sql: Sql): Iterable<TreeRow> {
  return rowsInBatches<TreeRow>((last, limit) =>
    sql.all`SELECT path, seq_id, title, tags, audience FROM neurons WHERE seq_id > ${last?.seqId ?? ''}
      ORDER BY seq_id LIMIT ${limit}`.map(toTreeRow),
  )
}

function toTreeRow({ path, seq_id, title, tags, audience }: Record<string, unknown>): TreeRow {
  return {
    path: String(path),
    seqId: String(seq_id),
    title: String(title),
    tags: JSON.parse(String(tags)),
    audience: audience === null ? undefined : JSON.parse(String(audience)),
  }
}
