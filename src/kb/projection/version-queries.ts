import { followsRename } from '../../rules/candidates/candidate.ts'
import { positionOf } from './main-changes.ts'
import type { AllTables, MainTables } from './projection.ts'
import { allRows, query, type SqlQuery, withoutNulls } from './sql-query.ts'

type Sql = MainTables

/** Version of a Neuron in main's history; a removal has no blob. */
export type VersionRow = { version: number; path: string; blob: string | null; commit: string; at: string }

/** Returns the file of the last version of a Neuron, which may be deleted now. */
export function lastBlob(sql: Sql, seqId: string): string | undefined {
  const row = sql.get`SELECT blob FROM versions WHERE seq_id = ${seqId} AND blob IS NOT NULL
    ORDER BY version DESC LIMIT 1`
  return row && String(row.blob)
}

/** Returns the version of a Neuron that main held at one of its first-parent commits, see {@link positionOf}. */
export function versionAt(sql: Sql, seqId: string, commit: string): VersionRow | undefined {
  return latestVersion(sql, query`seq_id = ${seqId} AND position <= ${positionOf(sql, commit) ?? 0}`)
}

export function versionOfBlob(sql: Sql, seqId: string, blob: string): VersionRow | undefined {
  return latestVersion(sql, query`seq_id = ${seqId} AND blob = ${blob}`)
}

export function versionBefore(sql: Sql, seqId: string, version: number): VersionRow | undefined {
  return latestVersion(sql, query`seq_id = ${seqId} AND version = ${version - 1}`)
}

function latestVersion(sql: Sql, condition: SqlQuery): VersionRow | undefined {
  const [row] = allRows(
    sql,
    query`SELECT version, path, blob, oid AS "commit", at FROM versions JOIN commits USING (position)
      WHERE ${condition} ORDER BY version DESC LIMIT 1`,
  )
  return row as VersionRow | undefined
}

/** Returns the version before the one that a commit made; the same one if that commit approved a text that the Neuron already had. */
export function versionApproved(
  sql: Sql,
  seqId: string,
  commit: string,
): { before: VersionRow | undefined; after: VersionRow | undefined } {
  const after = versionAt(sql, seqId, commit)
  if (after === undefined || after.commit !== commit) return { before: after, after }
  return { before: versionBefore(sql, seqId, after.version), after }
}

export function createdAt(sql: Sql, seqId: string): string | undefined {
  const row = sql.get`SELECT at FROM versions JOIN commits USING (position) WHERE seq_id = ${seqId} AND version = 1`
  return row && String(row.at)
}

/**
 * Returns the commits of main's first-parent line that begin with these hexadecimal digits: none, one, or two of several; if none, the
 * replacements of erased commits.
 */
export function commitsByPrefix(sql: Sql, prefix: string): string[] {
  const end = `${prefix}g`
  const now = sql.all`SELECT oid FROM commits WHERE oid >= ${prefix} AND oid < ${end} LIMIT 2`
  const replaced = () => sql.all`SELECT DISTINCT now AS oid FROM replaced_commits
    JOIN commits ON commits.oid = now WHERE replaced_commits.oid >= ${prefix} AND replaced_commits.oid < ${end} LIMIT 2`
  return (now.length > 0 ? now : replaced()).map(({ oid }) => String(oid))
}

/** Returns the highest number of a Neuron that a candidate created. Numbers that were invented outside of the server do not count. */
export function highestNumber(sql: Sql): number {
  const row = sql.get`SELECT number FROM versions CROSS JOIN approvals USING (candidate_id, seq_id)
    WHERE version = 1 ORDER BY number DESC LIMIT 1`
  return Number(row?.number ?? 0)
}

/** Returns the lowest number above another that no Neuron of main has or had. */
export function freeNumberAfter(sql: Sql, number: number): number {
  const row = sql.get`SELECT number + 1 AS free
    FROM (SELECT ${number} AS number UNION ALL SELECT number FROM versions WHERE number > ${number}) AS held
    WHERE NOT EXISTS (SELECT 1 FROM versions WHERE versions.number = held.number + 1) ORDER BY number LIMIT 1`
  return Number(row?.free)
}

/** Version of a Neuron, with the candidate in its back-pointer. */
export type VersionRecord = { seqId: string; version: number; commit: string; blob: string; candidateId: string | null }

/** Returns every version of any Neuron in main's history, oldest first, without removals. */
export function everyVersion(sql: Sql): VersionRecord[] {
  return sql.all`SELECT seq_id AS seqId, version, oid AS "commit", blob, candidate_id AS candidateId
    FROM versions JOIN commits USING (position) WHERE blob IS NOT NULL ORDER BY position, seq_id` as VersionRecord[]
}

/** Returns the Neurons that main has changed or removed since one of its first-parent commits; undefined for any other commit. */
export function changedSince(sql: Sql, commit: string): string[] | undefined {
  const since = sql.get`SELECT position FROM commits WHERE oid = ${commit}`
  if (since === undefined) return undefined
  // SQLite would scan all versions in the order of their key with `DISTINCT`.
  const rows = sql.all`SELECT seq_id FROM versions WHERE position > ${Number(since.position)}`
  return [...new Set(rows.map(({ seq_id }) => String(seq_id)))]
}

/** True if a candidate created the Neuron with this seqId, even if it is deleted now. Otherwise somebody invented the seqId. */
export function wasGiven(sql: Sql, seqId: string): boolean {
  return (
    sql.get`SELECT 1 FROM versions JOIN approvals USING (candidate_id, seq_id)
      WHERE seq_id = ${seqId} AND version = 1` !== undefined
  )
}

export function candidatesOf(sql: Sql, seqId: string): string[] {
  const rows = sql.all`SELECT DISTINCT candidate_id FROM versions WHERE seq_id = ${seqId} AND candidate_id IS NOT NULL`
  return rows.map(({ candidate_id }) => String(candidate_id))
}

export function wasHeld(sql: Sql, seqId: string): boolean {
  return sql.get`SELECT 1 FROM versions WHERE seq_id = ${seqId} LIMIT 1` !== undefined
}

/** Returns the Neurons whose document has or had this UUID, in this spelling or lower case; including deleted ones. */
export function seqIdsOfDocument(sql: Sql, documentId: string): string[] {
  const [lower, upper] = [documentId.toLowerCase(), documentId.toUpperCase()]
  return sql.all`SELECT seq_id FROM neurons WHERE document_id IN (${documentId}, ${lower}, ${upper})
    UNION SELECT seq_id FROM approvals WHERE document_id IN (${documentId}, ${lower}, ${upper})
    ORDER BY seq_id`.map(({ seq_id }) => String(seq_id))
}

/** Returns the UUID of a Neuron's document, also of a deleted one. */
export function documentOfSeqId(sql: Sql, seqId: string): string | undefined {
  const row = sql.get`SELECT document_id FROM versions JOIN approvals USING (candidate_id, seq_id)
    WHERE seq_id = ${seqId} AND document_id IS NOT NULL ORDER BY version DESC LIMIT 1`
  return row && String(row.document_id)
}

/** Latest change without a candidate: of a Neuron, of a deleted one (without blob), or of a page without a seqId (version 0). */
export type UnapprovedRow = { seqId: string | undefined; version: number; path: string; blob: string | undefined }

export function unapproved(sql: Sql): UnapprovedRow[] {
  return sql.all`SELECT seq_id AS seqId, max(version) AS version, path, blob FROM unapproved JOIN versions USING (seq_id)
      GROUP BY seq_id
    UNION ALL SELECT NULL, 0, path, blob FROM files
      WHERE seq_id IS NULL AND path GLOB 'neurons/*.md' AND mode GLOB '100*'
    UNION ALL SELECT seq_id, 0, files.path, files.blob FROM contested JOIN neurons USING (seq_id) JOIN files USING (seq_id)
      WHERE files.path <> neurons.path
    ORDER BY seqId, path`.map((row) => withoutNulls<UnapprovedRow>(row))
}

/**
 * True if only the policy, and no curator, has approved the present version of a Neuron. The approver of a rename has not seen the pages
 * whose links follow it.
 */
export function isApprovedByPolicy(sql: AllTables, seqId: string): boolean {
  const row = sql.get`SELECT unfinished FROM versions LEFT JOIN candidates ON candidates.id = candidate_id
    WHERE seq_id = ${seqId} AND versions.blob IS NOT NULL AND coalesce(reason, '') <> ${followsRename}
    ORDER BY version DESC LIMIT 1`
  return row?.unfinished === 1
}

/** Returns the last version of a Neuron that a curator, and not only the policy, has approved. */
export function lastCuratedVersion(sql: AllTables, seqId: string): { path: string; blob: string } | undefined {
  const row = sql.get`SELECT versions.path, versions.blob FROM versions LEFT JOIN candidates ON candidates.id = candidate_id
    WHERE seq_id = ${seqId} AND versions.blob IS NOT NULL AND coalesce(unfinished, 0) = 0
      AND coalesce(reason, '') <> ${followsRename} ORDER BY version DESC LIMIT 1`
  return row as { path: string; blob: string } | undefined
}

/** Returns at most `max` versions of a Neuron before one, the latest first, each with the candidate in its back-pointer. */
export function versionsBefore(
  sql: Sql,
  seqId: string,
  { before, max }: { before: number; max: number },
): (VersionRow & { candidateId: string | null })[] {
  return sql.all`SELECT version, path, blob, candidate_id AS candidateId, c.oid AS "commit", c.at
    FROM versions JOIN commits c USING (position)
    WHERE seq_id = ${seqId} AND version < ${before} ORDER BY version DESC LIMIT ${max}` as ReturnType<
    typeof versionsBefore
  >
}

/** Version of main that names a candidate which the queue lacks. A removal has no blob; `before`: the previous file. */
export type UnrecordedRow = {
  candidateId: string
  seqId: string
  position: number
  path: string
  blob: string | undefined
  before: string | undefined
}

/** Returns the first versions after a position whose candidates the queue lacks, oldest first. */
export function unrecorded(sql: AllTables, after: number, limit: number): UnrecordedRow[] {
  return sql.all`SELECT approvals.candidate_id AS candidateId, approvals.seq_id AS seqId, approvals.position, is_.path, is_.blob,
      was.blob AS before
    FROM approvals
    JOIN versions is_ ON is_.seq_id = approvals.seq_id AND is_.version =
      (SELECT min(version) FROM versions WHERE seq_id = approvals.seq_id AND candidate_id = approvals.candidate_id)
    LEFT JOIN versions was ON was.seq_id = is_.seq_id AND was.version = is_.version - 1
    LEFT JOIN candidates ON candidates.id = approvals.candidate_id
    WHERE approvals.position > ${after} AND candidates.id IS NULL
    ORDER BY approvals.position, approvals.candidate_id LIMIT ${limit}`.map((row) => withoutNulls<UnrecordedRow>(row))
}
