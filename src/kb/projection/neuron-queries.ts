import type { NeuronSort } from '../../contract/neurons.ts'
import type { Verified } from '../../rules/neurons/neuron.ts'
import type { AllTables, MainTables } from './projection.ts'
import { allRows, nothing, query, rowsInBatches, type SqlQuery, type SqlRow } from './sql-query.ts'

export type NeuronRow = {
  seqId: string
  documentId: string | null
  path: string
  blob: string
  title: string
  candidateId: string | null
  version: number
  commit: string
  createdAt: string
  updatedAt: string
  tags: string[]
  audience: string[] | undefined
  /** True if a part of its text was too complex to parse, or links are left out. */
  isPartial: boolean
  verified: Verified | null
  /** Owner in the page's front matter. */
  owner: string | null
}

type Sql = MainTables

/** Columns of a {@link NeuronSummaryRow}, which {@link toNeuron} reads. */
const summary = query`seq_id AS seqId, document_id AS documentId, path, title, version, created_at AS createdAt,
  updated_at AS updatedAt, tags, audience, verified, owner`

export function findNeuron(sql: Sql, seqId: string): NeuronRow | undefined {
  const row = sql.get`SELECT seq_id AS seqId, document_id AS documentId, path, title, version, created_at AS createdAt,
      updated_at AS updatedAt, tags, audience, verified, owner, blob, candidate_id AS candidateId, oid AS "commit", partial
    FROM neurons JOIN commits USING (position) WHERE seq_id = ${seqId}`
  if (row === undefined) return undefined
  const { partial, ...fields } = row
  return { ...toNeuron<Omit<NeuronRow, 'isPartial'>>(fields), isPartial: partial === 1 }
}

/** Parses the JSON of a row whose columns have the names of the fields, in place: a copy takes longer than reading the row. */
function toNeuron<Row>(row: SqlRow): Row {
  const { verified } = row
  return Object.assign(row, accessInRow(row), verified != null && { verified: JSON.parse(String(verified)) }) as Row
}

export type NeuronSummaryRow = Omit<NeuronRow, 'blob' | 'candidateId' | 'commit' | 'isPartial'>

/** Position in a list of Neurons. */
export type NeuronPlace = { seqId: string; updatedAt: string }

/** Filter, order and start of a list of Neurons. */
type NeuronListing = {
  tag?: string | undefined
  since?: string | undefined
  sort?: NeuronSort | undefined
  after?: NeuronPlace | undefined
}

/** Yields Neurons in an order, read in batches. */
export function neuronsInOrder(sql: Sql, listing: NeuronListing = {}): Generator<NeuronSummaryRow> {
  const { tag, since, sort = 'seqId' } = listing
  const { behind, order } = orders[sort]
  return rowsInBatches<NeuronSummaryRow>((last, limit) => {
    const after = last ?? listing.after
    const rows = allRows(
      sql,
      query`SELECT ${summary} FROM neurons WHERE true
        ${tag === undefined ? nothing : query`AND seq_id IN (SELECT tags.seq_id FROM tags WHERE key = ${tag})`}
        ${since === undefined ? nothing : query`AND updated_at >= ${since}`}
        ${after === undefined ? nothing : behind(after)} ${order} LIMIT ${limit}`,
    )
    return rows.map(toNeuron<NeuronSummaryRow>)
  })
}

const orders: Readonly<Record<NeuronSort, { behind: (place: NeuronPlace) => SqlQuery; order: SqlQuery }>> = {
  seqId: { behind: ({ seqId }) => query`AND seq_id > ${seqId}`, order: query`ORDER BY seq_id` },
  updatedAt: {
    behind: ({ updatedAt, seqId }) => query`AND (updated_at, seq_id) > (${updatedAt}, ${seqId})`,
    order: query`ORDER BY updated_at, seq_id`,
  },
  '-updatedAt': {
    behind: ({ updatedAt, seqId }) => query`AND (updated_at, seq_id) < (${updatedAt}, ${seqId})`,
    order: query`ORDER BY updated_at DESC, seq_id DESC`,
  },
}

export function everySeqId(sql: Sql): { seqId: string }[] {
  return sql.all`SELECT seq_id AS seqId FROM neurons ORDER BY seq_id` as { seqId: string }[]
}

type NeuronAccess = Pick<NeuronRow, 'tags' | 'audience'>

/** Returns the fields that decide who may see a Neuron; undefined if it does not exist. */
export function accessOf(sql: Sql, seqId: string): NeuronAccess | undefined {
  const row = sql.get`SELECT tags, audience FROM neurons WHERE seq_id = ${seqId}`
  return row && accessInRow(row)
}

/** Returns the names in the audiences of Neurons, except those that only the given Neurons use. */
export function audiencesOfOthers(sql: Sql, seqIds: ReadonlySet<string>): string[] {
  const rows = sql.all`SELECT audience, min(seq_id) AS first, max(seq_id) AS last FROM neurons
    WHERE audience IS NOT NULL GROUP BY audience`
  const others = rows.filter(({ first, last }) => !seqIds.has(String(first)) || !seqIds.has(String(last)))
  return others.flatMap(({ audience }) => JSON.parse(String(audience)))
}

/** Returns who may see the Neuron of a row, by its tags and audience. */
export function accessInRow({ tags, audience }: Record<string, unknown>): NeuronAccess {
  return { tags: JSON.parse(String(tags)), audience: audience == null ? undefined : JSON.parse(String(audience)) }
}

export type NeuronOfHit = Omit<NeuronSummaryRow, 'version' | 'createdAt'>

export function neuronsOfHits(sql: Sql, seqIds: readonly string[]): NeuronOfHit[] {
  const rows = sql.all`SELECT seq_id AS seqId, document_id AS documentId, title, path, tags, audience,
      updated_at AS updatedAt, verified, owner FROM neurons
    WHERE seq_id IN (SELECT value FROM json_each(${JSON.stringify(seqIds)}))`
  return rows.map(toNeuron<NeuronOfHit>)
}

export function titleOf(sql: Sql, seqId: string): string | undefined {
  const row = sql.get`SELECT title FROM neurons WHERE seq_id = ${seqId}`
  return row && String(row.title)
}

/** Returns the Neurons whose document has this UUID: one, unless somebody copied it. */
export function neuronsOfDocument(sql: Sql, documentId: string): { seqId: string }[] {
  const rows = sql.all`SELECT seq_id AS seqId FROM neurons WHERE document_id = ${documentId} ORDER BY seq_id`
  return rows as { seqId: string }[]
}

export function partialNeurons(sql: Sql, seqIds: readonly string[]): { seqId: string; path: string }[] {
  return seqIds.flatMap((seqId) => {
    const row = sql.get`SELECT path FROM neurons WHERE seq_id = ${seqId} AND partial = 1`
    return row === undefined ? [] : [{ seqId, path: String(row.path) }]
  })
}

export function countRows(sql: AllTables): { neurons: number; candidates: number } {
  const row = sql.get`SELECT (SELECT count(*) FROM neurons) AS neurons, (SELECT count(*) FROM candidates) AS candidates`
  return { neurons: Number(row?.neurons), candidates: Number(row?.candidates) }
}

/** Fields that differ between versions of a Neuron. */
export type NeuronVersion = Pick<NeuronRow, 'blob' | 'path' | 'tags' | 'updatedAt'>

export function everyNeuronVersion(sql: Sql): (NeuronVersion & { seqId: string })[] {
  const rows = sql.all`SELECT seq_id AS seqId, blob, path, tags, updated_at AS updatedAt FROM neurons`
  return rows.map(toNeuron<NeuronVersion & { seqId: string }>)
}

/** Names by which other files may link to a Neuron. */
type NeuronNames = {
  path: string
  documentId: string | undefined
  title: string | undefined
  aliases: string[]
}

/** Returns the names of a Neuron in its file; undefined if it does not exist. */
export function namesInFile(sql: Sql, seqId: string): NeuronNames | undefined {
  const row = sql.get`SELECT path, document_id FROM neurons WHERE seq_id = ${seqId}`
  if (row === undefined) return undefined
  const names = sql.all`SELECT kind, exact FROM names WHERE seq_id = ${seqId} AND kind IN ('title', 'alias')`
  const title = names.find(({ kind }) => kind === 'title')
  return {
    path: String(row.path),
    documentId: row.document_id === null ? undefined : String(row.document_id),
    title: title && String(title.exact),
    aliases: names.filter(({ kind }) => kind === 'alias').map(({ exact }) => String(exact)),
  }
}

/** Returns the tags of the page at a path of main; none if it is not a page. */
export function tagsAtPath(sql: Sql, path: string): string[] {
  const row = sql.get`SELECT tags FROM files JOIN neurons USING (seq_id) WHERE files.path = ${path}`
  return row === undefined ? [] : JSON.parse(String(row.tags))
}

/** Neuron in its folder, with the fields that decide who may see it. */
export type TreeRow = { path: string; seqId: string; title: string } & NeuronAccess

/** Returns the first Neurons whose paths are after one and before another, in byte order. */
export function nextNeurons(sql: Sql, after: string, { before, limit }: { before: string; limit: number }): TreeRow[] {
  return sql.all`SELECT files.path, seq_id AS seqId, title, tags, audience FROM files CROSS JOIN neurons USING (seq_id)
    WHERE files.path > ${after} AND files.path < ${before} AND neurons.path = files.path
    ORDER BY files.path LIMIT ${limit}`.map(toNeuron<TreeRow>)
}

/** Returns every Neuron in the order of seqIds, read in batches. */
export function everyTreeRow(sql: Sql): Iterable<TreeRow> {
  return rowsInBatches<TreeRow>((last, limit) =>
    sql.all`SELECT path, seq_id AS seqId, title, tags, audience FROM neurons WHERE seq_id > ${last?.seqId ?? ''}
      ORDER BY seq_id LIMIT ${limit}`.map(toNeuron<TreeRow>),
  )
}

/** Page compiled from a Source, and the position of the commit by which a later edition changed it. */
export type RenewedPage = { seqId: string; source: string; position: number }

export function renewedPages(sql: Sql): RenewedPage[] {
  return sql.all`SELECT seq_id AS seqId, source, renewed AS position FROM neurons
    WHERE renewed IS NOT NULL ORDER BY seq_id` as RenewedPage[]
}

/**
 * Returns pages that are not compiled from a Source, but name in their front matter an edition from which a renewed page was once compiled.
 */
export function pagesNamingRenewed(sql: Sql): { seqId: string; named: string }[] {
  return sql.all`SELECT DISTINCT citing.seq_id AS seqId, renewed.seq_id AS named FROM neurons AS renewed
    JOIN page_sources AS own ON own.seq_id = renewed.seq_id JOIN page_sources AS other ON other.source = own.source
    JOIN neurons AS citing ON citing.seq_id = other.seq_id
    WHERE renewed.renewed IS NOT NULL AND citing.source IS NULL` as { seqId: string; named: string }[]
}

/** True if a page, which is not compiled from a Source, is unchanged since before a commit. */
export function isUnchangedSince(sql: Sql, seqId: string, position: number): boolean {
  return (
    sql.get`SELECT 1 FROM neurons WHERE seq_id = ${seqId} AND source IS NULL AND position < ${position}` !== undefined
  )
}
