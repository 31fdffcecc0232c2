import type { NameClaim, NamedNeuron, NeuronName } from '../../rules/links/link-target.ts'
import type { WrittenLink } from '../../rules/links/written-link.ts'
import type { MainTables } from './projection.ts'
import { allRows, query, rowsInBatches, type SqlQuery, type SqlRow } from './sql-query.ts'

/** Link of a Neuron; `from`: path of that Neuron. */
export type LinkRow = WrittenLink & { seqId: string; from: string }

type Sql = MainTables

/** Links of Neurons. `ordinal`: position among those of the Neuron. */
const links = query`SELECT links.seq_id AS seqId, ordinal, path AS "from", form, type, kb, target, embed, line
  FROM links JOIN neurons USING (seq_id)`

function readLinks(sql: Sql, found: SqlQuery): (LinkRow & { ordinal: number })[] {
  const rows = allRows(sql, found)
  return rows.map((row) => Object.assign(row, { embed: row.embed === 1 })) as unknown as ReturnType<typeof readLinks>
}

export function linksOf(sql: Sql, seqId: string): LinkRow[] {
  return readLinks(sql, query`${links} WHERE seq_id = ${seqId} ORDER BY ordinal`)
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
  return readLinks(
    sql,
    query`${links} WHERE seq_id = ${seqId}
      AND (form = 'wiki' AND kb IS NULL AND bare_key IS NULL AND target NOT GLOB '.*'
        AND (SELECT min(names.seq_id) = max(names.seq_id) FROM names WHERE names.key = links.key)) IS NOT TRUE
      ORDER BY ordinal`,
  )
}

/** Returns every link, by Neuron and in order, read in batches. */
export function everyLink(sql: Sql): Iterable<LinkRow> {
  return linkBatches(sql, query`true`)
}

/** Returns links to a name with this key, by Neuron and in order, read in batches. */
export function linksByKey(sql: Sql, key: string): Iterable<LinkRow> {
  return linkBatches(sql, query`key = ${key}`)
}

/** Returns links to a path in another spelling, such as `./folder/file.md`, by Neuron and in order, read in batches. */
export function linksByBareKey(sql: Sql, key: string): Iterable<LinkRow> {
  return linkBatches(sql, query`bare_key = ${key}`)
}

function linkBatches(sql: Sql, condition: SqlQuery): Iterable<LinkRow> {
  return rowsInBatches<LinkRow & { ordinal: number }>((last, limit) =>
    readLinks(
      sql,
      query`${links} WHERE ${condition} AND (seq_id, ordinal) > (${last?.seqId ?? ''}, ${last?.ordinal ?? -1})
        ORDER BY seq_id, ordinal LIMIT ${limit}`,
    ),
  )
}

/**
 * Returns links of type `cites` to names of pages that a later edition of a Source has changed, from pages that are not compiled from a
 * Source and are older than one of these changes.
 */
export function linksToRenewed(sql: Sql): LinkRow[] {
  return readLinks(
    sql,
    query`WITH renewed_names AS (SELECT key FROM names JOIN neurons USING (seq_id) WHERE renewed IS NOT NULL)
      ${links} WHERE (key IN renewed_names OR bare_key IN renewed_names) AND type = 'cites' AND source IS NULL
        AND position < (SELECT max(renewed) FROM neurons)`,
  )
}

/** Returns every name with this key, with its Neuron. */
export function namesByKey(sql: Sql, key: string): NamedNeuron[] {
  return sql.all`SELECT seq_id AS seqId, kind, exact, path, since, yields FROM names JOIN neurons USING (seq_id)
    WHERE key = ${key} ORDER BY seq_id`.map(withClaim<NamedNeuron>)
}

/** Returns a row with the columns of its claim as one object. */
function withClaim<Row>({ since, yields, ...row }: SqlRow): Row {
  return { ...row, claim: { since: Number(since), yields: yields === 1 } } as Row
}

type ClaimedName = NeuronName & { claim: NameClaim }

/** Returns every name of every Neuron, by key; read in batches. */
export function everyName(sql: Sql): Iterable<ClaimedName & { seqId: string }> {
  return rowsInBatches<ClaimedName & { seqId: string }>((last, limit) => {
    const { key, seqId, kind, exact } = last ?? { key: '', seqId: '', kind: '', exact: '' }
    return sql.all`SELECT key, seq_id AS seqId, kind, exact, since, yields FROM names
      WHERE (key, seq_id, kind, exact) > (${key}, ${seqId}, ${kind}, ${exact})
      ORDER BY key, seq_id, kind, exact LIMIT ${limit}`.map(withClaim<ClaimedName & { seqId: string }>)
  })
}

/** True if another Neuron has the same title, alias or file name. */
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
  return sql.all`SELECT key, kind, exact, since, yields FROM names WHERE seq_id = ${seqId}`.map(withClaim<ClaimedName>)
}

/** Returns the claim of a Neuron to its path: since when it has it, and whether it came over the API. */
export function pathClaim(sql: Sql, seqId: string): NameClaim {
  const row = sql.get`SELECT since, yields FROM names WHERE seq_id = ${seqId} AND kind = 'path'`
  return withClaim<{ claim: NameClaim }>(row ?? { since: 0, yields: 0 }).claim
}

/** Returns every title and alias as written, with the Neuron's title. */
export function titlesAndAliases(sql: Sql): { seqId: string; name: string; title: string }[] {
  return sql.all`SELECT seq_id AS seqId, exact AS name, title FROM names JOIN neurons USING (seq_id)
    WHERE kind IN ('title', 'alias') ORDER BY seq_id, kind DESC, exact` as ReturnType<typeof titlesAndAliases>
}

/** Title or alias of a Neuron as written, and the path of its file. */
export type FoundName = { seqId: string; title: string; name: string; kind: 'title' | 'alias'; path: string }

/** Returns titles and aliases whose key begins with this one, by key; read in batches. */
export function namesThatBegin(sql: Sql, key: string): Iterable<FoundName> {
  return nameBatches(sql, (first) => query`key >= ${first || key} AND key < ${`${key}\u{10FFFF}`}`)
}

/** Returns titles and aliases with a later word that begins with this key, by key; read in batches. */
export function namesWithWord(sql: Sql, key: string): Iterable<FoundName> {
  return nameBatches(sql, () => query`instr(key, ${` ${key}`}) > 0`)
}

/** Yields titles and aliases in batches. @param condition returns the condition of a batch, from the last key read */
function nameBatches(sql: Sql, condition: (last: string) => SqlQuery): Iterable<FoundName> {
  return rowsInBatches<FoundName & { key: string }>((last, limit) => {
    const { key, seqId, kind, name } = last ?? { key: '', seqId: '', kind: '', name: '' }
    return allRows(
      sql,
      query`SELECT key, seq_id AS seqId, title, exact AS name, kind, path FROM names JOIN neurons USING (seq_id)
        WHERE ${condition(key)} AND kind IN ('title', 'alias') AND (key, seq_id, kind, exact) > (${key}, ${seqId}, ${kind}, ${name})
        ORDER BY key, seq_id, kind, exact LIMIT ${limit}`,
    ) as (FoundName & { key: string })[]
  }).map(({ key: _, ...name }) => name)
}
