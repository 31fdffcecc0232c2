import type { MainTables } from './projection.ts'

/** Pages of Sources that a later edition has changed: its id, and the commit's position. */
export function* renewedPages(sql: MainTables): Generator<{ seqId: string; source: string; position: number }> {
  for (const row of sql.iterate`SELECT seq_id, source, renewed FROM neurons WHERE renewed IS NOT NULL ORDER BY seq_id`)
    yield { seqId: String(row.seq_id), source: String(row.source), position: Number(row.renewed) }
}

/** Other pages whose front matter names an edition that a page was ever made of. */
export function pagesNaming(sql: MainTables, seqId: string): { seqId: string }[] {
  return sql.all`SELECT DISTINCT named.seq_id FROM page_sources AS own JOIN page_sources AS named USING (source)
    WHERE own.seq_id = ${seqId} AND named.seq_id <> own.seq_id`.map((row) => ({ seqId: String(row.seq_id) }))
}

/** Whether a page, which is not made of a Source itself, is as it was before a commit. */
export function isUnchangedSince(sql: MainTables, seqId: string, position: number): boolean {
  const row = sql.get`SELECT 1 FROM neurons WHERE seq_id = ${seqId} AND source IS NULL AND position < ${position}`
  return row !== undefined
}
