import type { SQLOutputValue } from 'node:sqlite'
import type { EdgeType } from '../../contract/vocabulary.ts'
import type { NameClaim, NamedNeuron, NameKind, NeuronName } from '../../rules/links/link-target.ts'
import type { LinkForm, WrittenLink } from '../../rules/links/written-link.ts'
import type { MainTables } from './projection.ts'
import { rowsInBatches } from './sql-query.ts'

/** Link of a Neuron; `from`: path of that Neuron. */
export type LinkRow = WrittenLink & { seqId: string; from: string }

type Sql = MainTables

export function linksOf(sql: Sql, seqId: string): LinkRow[] {
  return sql.all`SELECT links.*, path FROM links JOIN neurons USING (seq_id) WHERE seq_id = ${seqId} ORDER BY ordinal`.map(
    toLink,
  )
}

export function countLinks(sql: Sql, seqId: string): number {
  return Number(sql.get`SELECT count(*) AS count FROM links WHERE seq_id = ${seqId}`?.count)
}

/** True if reading the links of a Neuron takes some 10 ms or more, so that it needs a turn of its own. */
export function hasManyLinks(sql: Sql, seqId: string): boolean {
  return countLinks(sql, seqId) > 2000
}

/** Returns a Neuron's links in order, except plain names that only one Neuron has, which certainly lead to it. */
export function doubtfulLinksOf(sql: Sql, seqId: string): LinkRow[] {
  return sql.all`SELECT links.*, path FROM links JOIN neurons USING (seq_id) WHERE seq_id = ${seqId}
    AND (form = 'wiki' AND kb IS NULL AND bare_key IS NULL AND target NOT GLOB '.*'
      AND (SELECT min(names.seq_id) = max(names.seq_id) FROM names WHERE names.key = links.key)) IS NOT TRUE
    ORDER BY ordinal`.map(toLink)
}

/** Returns every link, by Neuron and in order, read in batches. */
export function everyLink(sql: Sql): Iterable<LinkRow> {
  return linkBatches(
    ({ seqId, ordinal }, limit) => sql.all`SELECT links.*, path FROM links JOIN neurons USING (seq_id)
      WHERE (seq_id, ordinal) > (${seqId}, ${ordinal}) ORDER BY seq_id, ordinal LIMIT ${limit}`,
  )
}

/** Returns links to a name with this key, by Neuron and in order, read in batches. */
export function linksByKey(sql: Sql, key: string): Iterable<LinkRow> {
  return linkBatches(
    ({ seqId, ordinal }, limit) => sql.all`SELECT links.*, path FROM links JOIN neurons USING (seq_id)
      WHERE key = ${key} AND (seq_id, ordinal) > (${seqId}, ${ordinal}) ORDER BY seq_id, ordinal LIMIT ${limit}`,
  )
}

/** Returns links to a path in another spelling, such as `./folder/file.md`, by Neuron and in order, read in batches. */
export function linksByBareKey(sql: Sql, key: string): Iterable<LinkRow> {
  return linkBatches(
    ({ seqId, ordinal }, limit) => sql.all`SELECT links.*, path FROM links JOIN neurons USING (seq_id)
      WHERE bare_key = ${key} AND (seq_id, ordinal) > (${seqId}, ${ordinal}) ORDER BY seq_id, ordinal LIMIT ${limit}`,
  )
}

type LinkPosition = { seqId: string; ordinal: number }
type StoredLink = Record<string, SQLOutputValue>

function linkBatches(read: (after: LinkPosition, limit: number) => StoredLink[]): Iterable<LinkRow> {
  return rowsInBatches<StoredLink>((last, limit) =>
    read({ seqId: String(last?.seq_id ?? ''), ordinal: Number(last?.ordinal ?? -1) }, limit),
  ).map(toLink)
}

/**
 * Returns links of type `cites` to names of pages that a later edition of a Source has changed, from pages that are not compiled from a
 * Source and are older than one of these changes.
 */
export function linksToRenewed(sql: Sql): LinkRow[] {
  return sql.all`WITH renewed_names AS (SELECT key FROM names JOIN neurons USING (seq_id) WHERE renewed IS NOT NULL)
    SELECT links.*, path FROM links JOIN neurons USING (seq_id)
    WHERE (key IN renewed_names OR bare_key IN renewed_names) AND type = 'cites' AND source IS NULL
      AND position < (SELECT max(renewed) FROM neurons)`.map(toLink)
}

/** Returns every name with this key, with its Neuron. */
export function namesByKey(sql: Sql, key: string): NamedNeuron[] {
  return sql.all`SELECT seq_id, kind, exact, path, since, yields FROM names JOIN neurons USING (seq_id)
    WHERE key = ${key} ORDER BY seq_id`.map((row) => ({
    seqId: String(row.seq_id),
    kind: row.kind as NameKind,
    exact: String(row.exact),
    path: String(row.path),
    claim: claimIn(row),
  }))
}

function claimIn({ since, yields }: Record<string, unknown>): NameClaim {
  return { since: Number(since), yields: yields === 1 }
}

/** Returns every name of every Neuron, by key; read in batches. */
export function everyName(sql: Sql): Iterable<ClaimedName & { seqId: string }> {
  return rowsInBatches<ClaimedName & { seqId: string }>((last, limit) => {
    const { key, seqId, kind, exact } = last ?? { key: '', seqId: '', kind: '', exact: '' }
    return sql.all`SELECT key, seq_id, kind, exact, since, yields FROM names
      WHERE (key, seq_id, kind, exact) > (${key}, ${seqId}, ${kind}, ${exact})
      ORDER BY key, seq_id, kind, exact LIMIT ${limit}`.map((row) => ({ seqId: String(row.seq_id), ...toName(row) }))
  })
}

/** True if another Neuron has a name by which people know this one, too. */
export function sharesName(sql: Sql, seqId: string): boolean {
  const row = sql.get`SELECT 1 FROM names WHERE seq_id = ${seqId} AND kind IN ('title', 'alias', 'file') AND EXISTS (
    SELECT 1 FROM names AS other WHERE other.key = names.key AND other.seq_id <> names.seq_id
      AND other.kind IN ('title', 'alias', 'file'))`
  return row !== undefined
}

/** Returns the keys of a Neuron's names, each once. */
export function keysOf(sql: Sql, seqId: string): string[] {
  return sql.all`SELECT DISTINCT key FROM names WHERE seq_id = ${seqId} ORDER BY key`.map(({ key }) => String(key))
}

export function namesOfNeuron(sql: Sql, seqId: string): ClaimedName[] {
  return sql.all`SELECT key, kind, exact, since, yields FROM names WHERE seq_id = ${seqId}`.map(toName)
}

type ClaimedName = NeuronName & { claim: NameClaim }

function toName(row: Record<string, unknown>): ClaimedName {
  return { key: String(row.key), kind: row.kind as NameKind, exact: String(row.exact), claim: claimIn(row) }
}

/** Returns the claim of a Neuron to its path: since when it has it, and whether it came over the API. */
export function pathClaim(sql: Sql, seqId: string): NameClaim {
  return claimIn(sql.get`SELECT since, yields FROM names WHERE seq_id = ${seqId} AND kind = 'path'` ?? { since: 0 })
}

/** Returns every title and alias as written, with the Neuron's title. */
export function titlesAndAliases(sql: Sql): { seqId: string; name: string; title: string }[] {
  const rows = sql.all`SELECT seq_id, exact, title FROM names JOIN neurons USING (seq_id)
    WHERE kind IN ('title', 'alias') ORDER BY seq_id, kind DESC, exact`
  return rows.map((row) => ({ seqId: String(row.seq_id), name: String(row.exact), title: String(row.title) }))
}

function toLink(row: Record<string, unknown>): LinkRow {
  return {
    seqId: String(row.seq_id),
    from: String(row.path),
    form: row.form as LinkForm,
    type: row.type as EdgeType,
    kb: row.kb as string | null,
    target: String(row.target),
    embed: row.embed === 1,
    line: row.line as number | null,
  }
}
