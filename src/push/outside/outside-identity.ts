import { blobAtPath, seqIdAtPath } from '../../kb/projection/file-queries.ts'
import type { Projection } from '../../kb/projection/projection.ts'
import { type UnapprovedRow, unapproved, wasGiven } from '../../kb/projection/version-queries.ts'
import type { Finding } from '../../rules/neurons/neuron.ts'

type Sql = Projection['read']

/**
 * Returns the problems of seqIds in pages that came to main without a candidate: invented, removed, or changed in a page that kept its
 * path. A push with them is rejected; commits that came without the server can only be reported.
 */
export function identityProblems(sql: Sql, rows: readonly UnapprovedRow[] = unapproved(sql)): Finding[] {
  const gone = new Map<string, string>()
  for (const { seqId, path, blob } of unapproved(sql)) {
    if (seqId !== undefined && blob === undefined && wasGiven(sql, seqId)) gone.set(path, seqId)
  }
  const problems = new Map<string, Finding>()
  for (const row of rows) {
    const { path } = row
    const seqId = row.blob === undefined ? seqIdAtPath(sql, path) : row.seqId
    const problem = problemOf(sql, row, { seqId, was: gone.get(path) })
    if (problem !== undefined) problems.set(path, { severity: 'error', path, line: 1, ...problem })
  }
  return [...problems.values()]
}

function problemOf(
  sql: Sql,
  { path, blob }: UnapprovedRow,
  { seqId, was }: { seqId: string | undefined; was: string | undefined },
): Pick<Finding, 'rule' | 'message'> | undefined {
  const isThere = blob !== undefined || blobAtPath(sql, path) !== undefined
  if (!isThere || (seqId !== undefined && wasGiven(sql, seqId))) return undefined
  if (was !== undefined) {
    const [rule, verb] = seqId === undefined ? ['removed-seq-id', 'removed'] : ['changed-seq-id', 'changed']
    return { rule, message: `The seqId ${was} was ${verb}: a Neuron keeps its seqId for ever. Put it back.` }
  }
  if (seqId === undefined) return undefined
  const message = `The seqId ${seqId} was never given: take it out of the page, and the server gives one.`
  return { rule: 'unknown-seq-id', message }
}
