import type { NeuronSort } from '../../contract/neurons.ts'
import type { Verified } from '../../rules/neurons/neuron.ts'
import type { AllTables, MainTables } from './projection.ts'
import { allRows, nothing, query, rowsInBatches, type SqlQuery } from './sql-query.ts'

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

export function findNeuron(sql: Sql, seqId: string): NeuronRow | undefined {
  const row = sql.get`SELECT neurons.*, oid FROM neurons JOIN commits USING (position) WHERE seq_id = ${seqId}`
  if (row === undefined) return undefined
  const { blob, candidate_id, oid, partial } = row
  const candidateId = candidate_id as string | null
  return { ...toSummary(row), blob: String(blob), candidateId, commit: String(oid), isPartial: partial === 1 }
}

function freshnessIn({ verified, owner }: Record<string, unknown>): Pick<NeuronRow, 'verified' | 'owner'> {
  return { verified: verified === null ? null : JSON.parse(String(verified)), owner: owner as string | null }
}

function audienceIn({ audience }: Record<string, unknown>): string[] | undefined {
  return audience === null ? undefined : JSON.parse(String(audience))
}

export type NeuronSummaryRow = Omit<NeuronRow, 'blob' | 'candidateId' | 'commit' | 'isPartial'>

/** Position in a list of Neurons. */
export type NeuronPlace = { seqId: string; updatedAt: string }

/** Filter, order and start of a list of Neurons. */
export type NeuronListing = {
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
      query`SELECT * FROM neurons WHERE true
        ${tag === undefined ? nothing : query`AND seq_id IN (SELECT tags.seq_id FROM tags WHERE key = ${tag})`}
        ${since === undefined ? nothing : query`AND updated_at >= ${since}`}
        ${after === undefined ? nothing : behind(after)} ${order} LIMIT ${limit}`,
    )
    return rows.map(toSummary)
  })
}

function toSummary(row: Record<string, unknown>): NeuronSummaryRow {
  return {
    seqId: String(row.seq_id),
    documentId: row.document_id as string | null,
    path: String(row.path),
    title: String(row.title),
    version: Number(row.version),
    createdAt: String(row.created_at),
    updatedAt: String(row.updated_at),
    tags: JSON.parse(String(row.tags)),
    audience: audienceIn(row),
    ...freshnessIn(row),
  }
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
  return sql.all`SELECT seq_id FROM neurons ORDER BY seq_id`.map(({ seq_id }) => ({ seqId: String(seq_id) }))
}

/** Returns the fields that decide who may see a Neuron; undefined if it does not exist. */
export function accessOf(sql: Sql, seqId: string): Pick<NeuronRow, 'tags' | 'audience'> | undefined {
  const row = sql.get`SELECT tags, audience FROM neurons WHERE seq_id = ${seqId}`
  return row && accessInRow(row)
}

/** Returns the names in the audiences of Neurons, but of those that only the given ones have. */
export function audiencesOfOthers(sql: Sql, seqIds: ReadonlySet<string>): string[] {
  const rows = sql.all`SELECT audience, min(seq_id) AS first, max(seq_id) AS last FROM neurons
    WHERE audience IS NOT NULL GROUP BY audience`
  const others = rows.filter(({ first, last }) => !seqIds.has(String(first)) || !seqIds.has(String(last)))
  return others.flatMap((row) => audienceIn(row) ?? [])
}

/** Returns who may see the Neuron of a row, by its tags and audience. */
export function accessInRow(row: Record<string, unknown>): Pick<NeuronRow, 'tags' | 'audience'> {
  return { tags: JSON.parse(String(row.tags)), audience: audienceIn(row) }
}

export type NeuronOfHit = Pick<
  NeuronRow,
  'seqId' | 'documentId' | 'title' | 'path' | 'tags' | 'audience' | 'updatedAt' | 'verified'
>

export function neuronsOfHits(sql: Sql, seqIds: readonly string[]): NeuronOfHit[] {
  const rows = sql.all`SELECT seq_id, document_id, title, path, tags, audience, updated_at, verified, owner FROM neurons
    WHERE seq_id IN (SELECT value FROM json_each(${JSON.stringify(seqIds)}))`
  return rows.map((row) => ({
    seqId: String(row.seq_id),
    documentId: row.document_id as string | null,
    title: String(row.title),
    path: String(row.path),
    tags: JSON.parse(String(row.tags)),
    audience: audienceIn(row),
    updatedAt: String(row.updated_at),
    ...freshnessIn(row),
  }))
}

export function titleOf(sql: Sql, seqId: string): string | undefined {
  const row = sql.get`SELECT title FROM neurons WHERE seq_id = ${seqId}`
  return row === undefined ? undefined : String(row.title)
}

/** Returns the Neurons whose document has this UUID: one, unless somebody copied it. */
export function neuronsOfDocument(sql: Sql, documentId: string): { seqId: string }[] {
  return sql.all`SELECT seq_id FROM neurons WHERE document_id = ${documentId} ORDER BY seq_id`.map(({ seq_id }) => ({
    seqId: String(seq_id),
  }))
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
  return sql.all`SELECT seq_id, blob, path, tags, updated_at FROM neurons`.map((row) => ({
    seqId: String(row.seq_id),
    blob: String(row.blob),
    path: String(row.path),
    tags: JSON.parse(String(row.tags)),
    updatedAt: String(row.updated_at),
  }))
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
    title: title === undefined ? undefined : String(title.exact),
    aliases: names.filter(({ kind }) => kind === 'alias').map(({ exact }) => String(exact)),
  }
}

/** Returns the tags of the page at a path of main; none if it is not a page. */
export function tagsAtPath(sql: Sql, path: string): string[] {
  const row = sql.get`SELECT tags FROM files JOIN neurons USING (seq_id) WHERE files.path = ${path}`
  return row === undefined ? [] : JSON.parse(String(row.tags))
}
