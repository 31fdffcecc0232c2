import { accessInRow } from './neuron-queries.ts'
import type { MainTables } from './projection.ts'
import { rowsInBatches, type SqlRow } from './sql-query.ts'

type Sql = MainTables

/**
 * Returns the position of a commit on main's first-parent line, from 1; undefined if it is not on it. A commit that an erasure has replaced
 * has the position of its replacement.
 */
export function positionOf(sql: Sql, commit: string): number | undefined {
  const row = sql.get`SELECT position FROM commits
    WHERE oid = coalesce((SELECT now FROM replaced_commits WHERE oid = ${commit}), ${commit})`
  return row && Number(row.position)
}

/** Returns the position of main's head; 0 if main is empty. */
export function lastPosition(sql: Sql): number {
  return Number(sql.get`SELECT max(position) AS last FROM commits`?.last ?? 0)
}

export function commitAt(sql: Sql, position: number): string | undefined {
  const row = sql.get`SELECT oid FROM commits WHERE position = ${position}`
  return row && String(row.oid)
}

/** Returns the position at which main has made `count` versions since another position; undefined if it has made fewer. */
export function positionOfVersion(sql: Sql, after: number, count: number): number | undefined {
  const row = sql.get`SELECT position FROM versions WHERE position > ${after}
    ORDER BY position LIMIT 1 OFFSET ${count - 1}`
  return row && Number(row.position)
}

export type PlacedCommit = { position: number; commit: string; at: string }

/** Returns commits of main's first-parent line after one position and up to another, oldest first. */
export function mainCommitsBetween(sql: Sql, after: number, upTo: number): PlacedCommit[] {
  return sql.all`SELECT position, oid AS "commit", at FROM commits
    WHERE position > ${after} AND position <= ${upTo} ORDER BY position` as PlacedCommit[]
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
  const read = (last: SqlRow | undefined, limit: number) => {
    const { position = after, seqId = '', version = 0 } = last ?? {}
    return sql.all`SELECT v.position, v.seq_id AS seqId, v.version, v.path, v.blob, p.path AS wasPath, p.blob AS wasBlob
      FROM versions v LEFT JOIN versions p ON p.seq_id = v.seq_id AND p.version = v.version - 1
      WHERE v.position >= ${last?.position ?? after + 1} AND v.position <= ${upTo}
        AND (v.position, v.seq_id, v.version) > (${position}, ${seqId}, ${version})
      ORDER BY v.position, v.seq_id, v.version LIMIT ${limit}`
  }
  return rowsInBatches<SqlRow>(read).map(({ position, seqId, path, blob, wasPath, wasBlob }) => ({
    ...{ position: Number(position), seqId: String(seqId) },
    ...{ is: fileIn(path, blob), was: fileIn(wasPath, wasBlob) },
  }))
}

/** Returns the file of the last version of a Neuron up to a position, ignoring removals. */
export function lastBlobUpTo(sql: Sql, seqId: string, position: number): string | undefined {
  const row = sql.get`SELECT blob FROM versions WHERE seq_id = ${seqId} AND position <= ${position} AND blob IS NOT NULL
    ORDER BY version DESC LIMIT 1`
  return row && String(row.blob)
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
  return sql.all`SELECT v.position, v.seq_id AS seqId, v.blob, p.blob AS before, a.candidate_id AS candidateId,
      n.document_id AS documentId, n.tags, n.audience
    FROM versions v LEFT JOIN versions p ON p.seq_id = v.seq_id AND p.version = v.version - 1
      LEFT JOIN approvals a ON a.candidate_id = v.candidate_id AND a.position = v.position
      LEFT JOIN neurons n ON n.seq_id = v.seq_id AND n.version = v.version
    WHERE v.position > ${after} AND v.position <= ${upTo} ORDER BY v.position, v.seq_id`.map(
    ({ documentId, tags, audience, ...change }) => {
      const now = tags === null ? undefined : { documentId, ...accessInRow({ tags, audience }) }
      return { ...change, now } as NeuronChange
    },
  )
}

/** Returns the candidates that the commits after one position and up to another approved, oldest first. */
export function approvalsBetween(
  sql: Sql,
  after: number,
  upTo: number,
): { position: number; candidateId: string; seqId: string }[] {
  return sql.all`SELECT position, candidate_id AS candidateId, seq_id AS seqId FROM approvals
    WHERE position > ${after} AND position <= ${upTo} ORDER BY position, candidate_id` as ReturnType<
    typeof approvalsBetween
  >
}
