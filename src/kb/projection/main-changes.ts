import type { SQLOutputValue } from 'node:sqlite'
import type { MainTables } from './projection.ts'
import { rowsInBatches } from './sql-query.ts'

type Sql = MainTables

/**
 * Returns the position of a commit on main's first-parent line, from 1; undefined if it is not on it. A commit that an erasure has replaced
 * has the position of its replacement.
 */
export function positionOf(sql: Sql, commit: string): number | undefined {
  const row = sql.get`SELECT position FROM commits
    WHERE oid = coalesce((SELECT now FROM replaced_commits WHERE oid = ${commit}), ${commit})`
  return row === undefined ? undefined : Number(row.position)
}

/** Returns the position of main's head; 0 if main is empty. */
export function lastPosition(sql: Sql): number {
  return Number(sql.get`SELECT max(position) AS last FROM commits`?.last ?? 0)
}

export function commitAt(sql: Sql, position: number): string | undefined {
  const row = sql.get`SELECT oid FROM commits WHERE position = ${position}`
  return row === undefined ? undefined : String(row.oid)
}

/** Returns the first position by which main's commits after another made so many versions of Neurons; undefined if none did. */
export function positionOfVersion(sql: Sql, after: number, count: number): number | undefined {
  const row = sql.get`SELECT position FROM versions WHERE position > ${after}
    ORDER BY position LIMIT 1 OFFSET ${count - 1}`
  return row === undefined ? undefined : Number(row.position)
}

export type PlacedCommit = { position: number; commit: string; at: string }

/** Returns commits of main's first-parent line after one position and up to another, oldest first. */
export function mainCommitsBetween(sql: Sql, after: number, upTo: number): PlacedCommit[] {
  return sql.all`SELECT position, oid, at FROM commits WHERE position > ${after} AND position <= ${upTo} ORDER BY position`.map(
    ({ position, oid, at }) => ({ position: Number(position), commit: String(oid), at: String(at) }),
  )
}

type VersionFile = { path: string; blob: string }

/** Change of a Neuron by a version; without `is` it is removed, without `was` it is new. */
export type VersionChange = {
  position: number
  seqId: string
  is: VersionFile | undefined
  was: VersionFile | undefined
}

/** Returns the versions made by the commits after one position and up to another, oldest first, read in batches. */
export function versionsBetween(sql: Sql, after: number, upTo: number): IteratorObject<VersionChange, undefined> {
  const fileIn = (path: unknown, blob: unknown) => (typeof blob === 'string' ? { path: String(path), blob } : undefined)
  return rowsInBatches<Record<string, SQLOutputValue>>(
    (
      last,
      limit,
    ) => sql.all`SELECT v.position, v.seq_id, v.version, v.path, v.blob, p.path AS was_path, p.blob AS was_blob
      FROM versions v LEFT JOIN versions p ON p.seq_id = v.seq_id AND p.version = v.version - 1
      WHERE v.position >= ${last?.position ?? after + 1} AND v.position <= ${upTo}
        AND (v.position, v.seq_id, v.version) > (${last?.position ?? after}, ${last?.seq_id ?? ''}, ${last?.version ?? 0})
      ORDER BY v.position, v.seq_id, v.version LIMIT ${limit}`,
  ).map((row) => ({
    position: Number(row.position),
    seqId: String(row.seq_id),
    is: fileIn(row.path, row.blob),
    was: fileIn(row.was_path, row.was_blob),
  }))
}

/** Returns the file of the last version of a Neuron up to a position, ignoring removals. */
export function lastBlobUpTo(sql: Sql, seqId: string, position: number): string | undefined {
  const row = sql.get`SELECT blob FROM versions WHERE seq_id = ${seqId} AND position <= ${position} AND blob IS NOT NULL
    ORDER BY version DESC LIMIT 1`
  return row === undefined ? undefined : String(row.blob)
}

export type NeuronChange = {
  position: number
  seqId: string
  blob: string | null
  before: string | null
  candidateId: string | null
  /** Present state of the Neuron, if this is its latest version. */
  now: { documentId: string | null; tags: string[]; audience: string[] | undefined } | undefined
}

/** Returns the changes of Neurons by the commits after one position and up to another, oldest first. */
export function changesBetween(sql: Sql, after: number, upTo: number): NeuronChange[] {
  const rows = sql.all`SELECT v.position, v.seq_id, v.blob, p.blob AS before, a.candidate_id, n.document_id, n.tags, n.audience
    FROM versions v LEFT JOIN versions p ON p.seq_id = v.seq_id AND p.version = v.version - 1
      LEFT JOIN approvals a ON a.candidate_id = v.candidate_id AND a.position = v.position
      LEFT JOIN neurons n ON n.seq_id = v.seq_id AND n.version = v.version
    WHERE v.position > ${after} AND v.position <= ${upTo} ORDER BY v.position, v.seq_id`
  return rows.map((row) => ({
    position: Number(row.position),
    seqId: String(row.seq_id),
    blob: row.blob as string | null,
    before: row.before as string | null,
    candidateId: row.candidate_id as string | null,
    now: neuronIn(row),
  }))
}

function neuronIn({ document_id, tags, audience }: Record<string, unknown>): NeuronChange['now'] {
  if (tags === null) return undefined
  return {
    documentId: document_id as string | null,
    tags: JSON.parse(String(tags)),
    audience: audience === null ? undefined : JSON.parse(String(audience)),
  }
}

/** Returns the candidates that the commits after one position and up to another approved, oldest first. */
export function approvalsBetween(
  sql: Sql,
  after: number,
  upTo: number,
): { position: number; candidateId: string; seqId: string }[] {
  return sql.all`SELECT position, candidate_id, seq_id FROM approvals
    WHERE position > ${after} AND position <= ${upTo} ORDER BY position, candidate_id`.map((row) => ({
    position: Number(row.position),
    candidateId: String(row.candidate_id),
    seqId: String(row.seq_id),
  }))
}
