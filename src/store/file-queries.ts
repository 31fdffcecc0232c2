import type { Projection } from './projection.ts'

type Sql = Projection['read']

/** The blob of a file that is not a Neuron; nothing for any other path. */
export function fileBlob(sql: Sql, path: string): string | undefined {
  const row = sql.get`SELECT blob FROM files WHERE path = ${path} AND seq_id IS NULL AND mode GLOB '100*'`
  return row === undefined ? undefined : String(row.blob)
}

/** A link that may name a file, with the page that holds it. */
export type FileReference = { seqId: string; page: string; target: string }

/** The links to files of this name; see `fileNameKey`. Read as it goes. */
export function* referencesToFile(sql: Sql, nameKey: string): Generator<FileReference> {
  const rows = sql.iterate`SELECT links.seq_id, path, target FROM links JOIN neurons USING (seq_id)
    WHERE file_key = ${nameKey} AND kb IS NULL ORDER BY links.seq_id, ordinal`
  for (const { seq_id, path, target } of rows)
    yield { seqId: String(seq_id), page: String(path), target: String(target) }
}

/** The targets of a Neuron's links that may name files, in order. */
export function fileTargets(sql: Sql, seqId: string): string[] {
  return sql.all`SELECT target FROM links WHERE seq_id = ${seqId} AND file_key IS NOT NULL AND kb IS NULL
    ORDER BY ordinal`.map(({ target }) => String(target))
}

/** Whether only the policy, and no curator, has approved the version of a Neuron that main holds. */
export function isApprovedByPolicy(sql: Sql, seqId: string): boolean {
  return (
    sql.get`SELECT 1 FROM neurons JOIN candidates ON candidates.id = candidate_id
      WHERE seq_id = ${seqId} AND unfinished = 1` !== undefined
  )
}

/** The last version of a Neuron that not only the policy has approved. */
export function lastCuratedVersion(sql: Sql, seqId: string): { path: string; blob: string } | undefined {
  const row = sql.get`SELECT versions.path, versions.blob FROM versions LEFT JOIN candidates ON candidates.id = candidate_id
    WHERE seq_id = ${seqId} AND versions.blob IS NOT NULL AND coalesce(unfinished, 0) = 0 ORDER BY version DESC LIMIT 1`
  return row === undefined ? undefined : { path: String(row.path), blob: String(row.blob) }
}
