import type { UndoInput } from '../../contract/undo.ts'
import { followsRename } from '../../rules/candidates/candidate.ts'
import { madeBelow } from './candidate-index.ts'
import { forEndUser } from './candidate-queue.ts'
import type { AllTables } from './projection.ts'
import { allRows, query, type SqlQuery } from './sql-query.ts'

/**
 * Selects changes of main by their writer: some senders, one model, or one connector, with places of a prefix; of these, only what was sent
 * on behalf of one end user.
 */
export type Writer = ({ senders: readonly string[] } | { model: string } | { connector: string; prefix?: string }) &
  Pick<UndoInput, 'onBehalfOf'>

/**
 * Returns the parameters of an undo that reverts an approved candidate, together with all later changes of its sender, Source, or
 * connector.
 */
export function undoOf(
  sql: AllTables,
  candidateId: string,
): Pick<UndoInput, 'by' | 'writer' | 'since' | 'onBehalfOf'> | undefined {
  const row = sql.get`SELECT sender, connector, at, end_user ->> 'id' AS endUser FROM candidates JOIN approvals ON candidate_id = candidates.id
    JOIN commits USING (position) WHERE candidates.id = ${candidateId}`
  if (row === undefined) return undefined
  const [, kind, id] = /^(key|git|user|source):(.*)$/s.exec(String(row.sender)) ?? []
  const rest = { since: String(row.at), ...(row.endUser !== null && { onBehalfOf: String(row.endUser) }) }
  if (id === undefined) return { by: 'connector', writer: String(row.connector), ...rest }
  return { by: kind === 'source' ? kind : kind === 'user' ? 'person' : 'key', writer: id, ...rest }
}

/** Version of a Neuron. A removal has no blob. `by`: author, unless it is the selected writer. */
export type WrittenVersion = {
  path: string
  blob: string | null
  by: string | undefined
  /** True if only links in it changed, to follow a rename. */
  isFollowing: boolean
}

/**
 * Returns the Neurons that a writer has changed on main since a time, each with the numbers of its versions, in order. The changes of a
 * commit include links that follow its renames.
 */
export function writtenSince(sql: AllTables, writer: Writer, since: string): Map<string, number[]> {
  const rows = allRows(
    sql,
    query`WITH brought AS MATERIALIZED (
        SELECT candidates.id, seq_id, position FROM candidates JOIN approvals ON candidate_id = candidates.id
        JOIN commits USING (position) WHERE at >= ${since} AND ${isOf(writer)} ${forEndUser(writer.onBehalfOf)}
      ), theirs AS (
        SELECT v.seq_id, v.version FROM brought JOIN versions v ON v.candidate_id = brought.id
          AND v.seq_id = brought.seq_id AND v.position = brought.position
        UNION SELECT v.seq_id, v.version FROM (SELECT DISTINCT position FROM brought) AS one JOIN versions v USING (position)
          JOIN candidates ON candidates.id = v.candidate_id WHERE reason = ${followsRename}
      )
      SELECT seq_id, json_group_array(version ORDER BY version) AS versions FROM theirs GROUP BY seq_id ORDER BY seq_id`,
  )
  return new Map(rows.map(({ seq_id, versions }) => [String(seq_id), JSON.parse(String(versions))]))
}

/** Returns the versions of a Neuron since the first one by a writer, oldest first. */
export function versionsFrom(
  sql: AllTables,
  { seqId, written }: { seqId: string; written: readonly number[] },
): WrittenVersion[] {
  const rows = sql.all`SELECT v.version, v.path, v.blob, created_by, reason FROM versions v
    LEFT JOIN approvals a ON a.candidate_id = v.candidate_id AND a.position = v.position
    LEFT JOIN candidates c ON c.id = a.candidate_id
    WHERE v.seq_id = ${seqId} AND v.version >= ${written[0] ?? 0} ORDER BY v.version`
  const own = new Set(written)
  return rows.map(({ version, path, blob, created_by, reason }) => ({
    path: String(path),
    blob: blob as string | null,
    by: own.has(Number(version)) ? undefined : String(created_by ?? 'somebody with git'),
    isFollowing: reason === followsRename,
  }))
}

function isOf(writer: Writer): SqlQuery {
  if ('senders' in writer) return query`sender IN (SELECT value FROM json_each(${JSON.stringify(writer.senders)}))`
  if ('model' in writer) return query`model = ${writer.model}`
  const { connector, prefix } = writer
  if (prefix === undefined) return query`status = 'approved' AND connector = ${connector}`
  return madeBelow(connector, prefix)
}

/** Version of a Neuron that is no removal. `candidate`: record of its candidate; undefined if the queue lacks it. */
export type BroughtVersion = {
  version: number
  blob: string
  commit: string
  at: string
  candidate: { id: string; blob: string; model: string | null } | undefined
  isFollowing: boolean
}

/** Returns the versions of a Neuron without removals, oldest first. */
export function broughtVersions(sql: AllTables, seqId: string): BroughtVersion[] {
  const rows = sql.all`SELECT v.version, v.blob, m.oid AS "commit", m.at, c.id, c.blob AS record, c.model, c.reason
    FROM versions v JOIN commits m USING (position)
      LEFT JOIN approvals a ON a.candidate_id = v.candidate_id AND a.position = v.position
      LEFT JOIN candidates c ON c.id = a.candidate_id
    WHERE v.seq_id = ${seqId} AND v.blob IS NOT NULL ORDER BY v.version`
  return rows.map(({ id, record, model, reason, ...version }) => ({
    ...(version as Pick<BroughtVersion, 'version' | 'blob' | 'commit' | 'at'>),
    candidate: typeof id === 'string' ? { id, blob: String(record), model: model as string | null } : undefined,
    isFollowing: reason === followsRename,
  }))
}
