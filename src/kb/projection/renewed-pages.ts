import type { MainTables } from './projection.ts'

/** Page compiled from a Source that a later edition has changed: the Source's id, and the commit's position. */
export type RenewedPage = { seqId: string; source: string; position: number }

export function renewedPages(sql: MainTables): RenewedPage[] {
  return sql.all`SELECT seq_id, source, renewed FROM neurons WHERE renewed IS NOT NULL ORDER BY seq_id`.map(
    ({ seq_id, source, renewed }) => ({ seqId: String(seq_id), source: String(source), position: Number(renewed) }),
  )
}

/**
 * Returns pages that are not compiled from a Source, but name in their front matter an edition from which a renewed page was once compiled.
 */
export function pagesNamingRenewed(sql: MainTables): { seqId: string; named: string }[] {
  return sql.all`SELECT DISTINCT citing.seq_id, renewed.seq_id AS named FROM neurons AS renewed
    JOIN page_sources AS own ON own.seq_id = renewed.seq_id JOIN page_sources AS other ON other.source = own.source
    JOIN neurons AS citing ON citing.seq_id = other.seq_id
    WHERE renewed.renewed IS NOT NULL AND citing.source IS NULL`.map((row) => {
    return { seqId: String(row.seq_id), named: String(row.named) }
  })
}

/** True if a page, which is not compiled from a Source, is unchanged since before a commit. */
export function isUnchangedSince(sql: MainTables, seqId: string, position: number): boolean {
  const row = sql.get`SELECT 1 FROM neurons WHERE seq_id = ${seqId} AND source IS NULL AND position < ${position}`
  return row !== undefined
}
