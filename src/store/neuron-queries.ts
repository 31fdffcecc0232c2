import type { Projection } from './projection.ts'

/** A Neuron as it stands at the head of main. */
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
  /** Whether a part of its text was too complex to parse, or links are left out. */
  isPartial: boolean
}

/** One version of a Neuron in main's history; a removal has no blob. */
export type VersionRow = { version: number; path: string; blob: string | null; commit: string; at: string }

type Sql = Projection['read']

export function findNeuron(sql: Sql, seqId: string): NeuronRow | undefined {
  const row = sql.get`SELECT neurons.*, oid FROM neurons JOIN commits USING (position) WHERE seq_id = ${seqId}`
  if (row === undefined) return undefined
  return {
    seqId,
    documentId: row.document_id as string | null,
    path: String(row.path),
    blob: String(row.blob),
    title: String(row.title),
    candidateId: row.candidate_id as string | null,
    version: Number(row.version),
    commit: String(row.oid),
    createdAt: String(row.created_at),
    updatedAt: String(row.updated_at),
    tags: JSON.parse(String(row.tags)),
    audience: audienceIn(row),
    isPartial: row.partial === 1,
  }
}

function audienceIn({ audience }: Record<string, unknown>): string[] | undefined {
  return audience === null ? undefined : JSON.parse(String(audience))
}

/** What a listing shows of a Neuron. */
export type NeuronSummaryRow = Pick<
  NeuronRow,
  'seqId' | 'documentId' | 'path' | 'title' | 'version' | 'createdAt' | 'updatedAt' | 'tags' | 'audience'
>

/** Neurons after a seqId, by seqId, read as it goes; those with this key of a tag, or all. */
export function* neuronsAfter(sql: Sql, after: string, tag: string | undefined): Generator<NeuronSummaryRow> {
  const rows =
    tag === undefined
      ? sql.iterate`SELECT * FROM neurons WHERE seq_id > ${after} ORDER BY seq_id`
      : sql.iterate`SELECT neurons.* FROM tags JOIN neurons USING (seq_id)
          WHERE key = ${tag} AND tags.seq_id > ${after} ORDER BY tags.seq_id`
  for (const row of rows) {
    yield {
      seqId: String(row.seq_id),
      documentId: row.document_id as string | null,
      path: String(row.path),
      title: String(row.title),
      version: Number(row.version),
      createdAt: String(row.created_at),
      updatedAt: String(row.updated_at),
      tags: JSON.parse(String(row.tags)),
      audience: audienceIn(row),
    }
  }
}

/** Every Neuron, by seqId, read as it goes. */
export function* everySeqId(sql: Sql): Generator<string> {
  for (const { seq_id } of sql.iterate`SELECT seq_id FROM neurons ORDER BY seq_id`) yield String(seq_id)
}

/** What says who may see a Neuron; nothing where it is not there. */
export function accessOf(sql: Sql, seqId: string): Pick<NeuronRow, 'tags' | 'audience'> | undefined {
  const row = sql.get`SELECT tags, audience FROM neurons WHERE seq_id = ${seqId}`
  return row === undefined ? undefined : { tags: JSON.parse(String(row.tags)), audience: audienceIn(row) }
}

/** The file of the last version of a Neuron, also of one that is deleted now. */
export function lastBlob(sql: Sql, seqId: string): string | undefined {
  const row = sql.get`SELECT blob FROM versions WHERE seq_id = ${seqId} AND blob IS NOT NULL
    ORDER BY version DESC LIMIT 1`
  return row === undefined ? undefined : String(row.blob)
}

/** A Neuron as a link shows it. */
export function titleOf(sql: Sql, seqId: string): string | undefined {
  const row = sql.get`SELECT title FROM neurons WHERE seq_id = ${seqId}`
  return row === undefined ? undefined : String(row.title)
}

/** The seqId of the Neuron whose document has this UUID. */
export function seqIdOfDocument(sql: Sql, documentId: string): string | undefined {
  const row = sql.get`SELECT seq_id FROM neurons WHERE document_id = ${documentId} ORDER BY seq_id LIMIT 1`
  return row === undefined ? undefined : String(row.seq_id)
}

/** The version of a Neuron that main held at one of its first-parent commits. */
export function versionAt(sql: Sql, seqId: string, commit: string): VersionRow | undefined {
  const row = sql.get`SELECT version, path, blob, c.oid, c.at FROM versions JOIN commits c USING (position)
    WHERE seq_id = ${seqId} AND position <= (SELECT position FROM commits WHERE oid = ${commit})
    ORDER BY version DESC LIMIT 1`
  return row === undefined ? undefined : toVersion(row)
}

/** The latest version of a Neuron that was this blob. */
export function versionOfBlob(sql: Sql, seqId: string, blob: string): VersionRow | undefined {
  const row = sql.get`SELECT version, path, blob, c.oid, c.at FROM versions JOIN commits c USING (position)
    WHERE seq_id = ${seqId} AND blob = ${blob} ORDER BY version DESC LIMIT 1`
  return row === undefined ? undefined : toVersion(row)
}

/** The version that a Neuron had before another. */
export function versionBefore(sql: Sql, seqId: string, version: number): VersionRow | undefined {
  const row = sql.get`SELECT version, path, blob, c.oid, c.at FROM versions JOIN commits c USING (position)
    WHERE seq_id = ${seqId} AND version = ${version - 1}`
  return row === undefined ? undefined : toVersion(row)
}

function toVersion({ version, path, blob, oid, at }: Record<string, unknown>): VersionRow {
  return {
    version: Number(version),
    path: String(path),
    blob: blob as string | null,
    commit: String(oid),
    at: String(at),
  }
}

/** When a Neuron's first version came to main. */
export function createdAt(sql: Sql, seqId: string): string | undefined {
  const row = sql.get`SELECT at FROM versions JOIN commits USING (position) WHERE seq_id = ${seqId} AND version = 1`
  return row === undefined ? undefined : String(row.at)
}

/** The commits of main's first-parent line that begin with these hexadecimal digits: none, one, or two of several. */
export function commitsByPrefix(sql: Sql, prefix: string): string[] {
  return sql.all`SELECT oid FROM commits WHERE oid >= ${prefix} AND oid < ${`${prefix}g`} LIMIT 2`.map(({ oid }) =>
    String(oid),
  )
}

/** The highest number that was given to a Neuron, which a candidate has brought; what somebody made up around the server is none. */
export function highestNumber(sql: Sql): number {
  const row = sql.get`SELECT number FROM versions CROSS JOIN approvals USING (candidate_id, seq_id)
    WHERE version = 1 ORDER BY number DESC LIMIT 1`
  return Number(row?.number ?? 0)
}

/** The lowest number above another that no Neuron of main ever had. */
export function freeNumberAfter(sql: Sql, number: number): number {
  const row = sql.get`SELECT number + 1 AS free
    FROM (SELECT ${number} AS number UNION ALL SELECT number FROM versions WHERE number > ${number}) AS held
    WHERE NOT EXISTS (SELECT 1 FROM versions WHERE versions.number = held.number + 1) ORDER BY number LIMIT 1`
  return Number(row?.free)
}

/** Whether a file of main has this path, or one that collides with it on a file system that folds case. */
export function isPathTaken(sql: Sql, key: string): boolean {
  return sql.get`SELECT 1 FROM files WHERE path_key = ${key}` !== undefined
}

/** The files of main that a file whose path has this key would replace: they have that path, or stand below it; read as it goes. */
export function* filesAtKey(sql: Sql, key: string): Generator<string> {
  const rows = sql.iterate`SELECT path FROM files WHERE path_key = ${key} OR (path_key > ${`${key}/`} AND path_key < ${`${key}0`})`
  for (const { path } of rows) yield String(path)
}

/** The path of every file of main. */
export function filePaths(sql: Sql): string[] {
  return sql.all`SELECT path FROM files`.map(({ path }) => String(path))
}

/** The paths of those of these Neurons that are only partly parsed. */
export function partialPaths(sql: Sql, seqIds: readonly string[]): string[] {
  return seqIds.flatMap((seqId) => {
    const row = sql.get`SELECT path FROM neurons WHERE seq_id = ${seqId} AND partial = 1`
    return row === undefined ? [] : [String(row.path)]
  })
}

export function blobAtPath(sql: Sql, path: string): string | undefined {
  const row = sql.get`SELECT blob FROM files WHERE path = ${path}`
  return row === undefined ? undefined : String(row.blob)
}

/** A version of a Neuron, with the candidate that it points back to. */
export type VersionRecord = { seqId: string; version: number; commit: string; blob: string; candidateId: string | null }

/** Every version that main ever had of any Neuron, oldest first, without removals. */
export function everyVersion(sql: Sql): VersionRecord[] {
  const rows = sql.all`SELECT seq_id, version, blob, candidate_id, oid FROM versions JOIN commits USING (position)
    WHERE blob IS NOT NULL ORDER BY position, seq_id`
  return rows.map((row) => ({
    seqId: String(row.seq_id),
    version: Number(row.version),
    commit: String(row.oid),
    blob: String(row.blob),
    candidateId: row.candidate_id as string | null,
  }))
}

/** How many Neurons and candidates there are now. */
export function countRows(sql: Sql): { neurons: number; candidates: number } {
  const row = sql.get`SELECT (SELECT count(*) FROM neurons) AS neurons, (SELECT count(*) FROM candidates) AS candidates`
  return { neurons: Number(row?.neurons), candidates: Number(row?.candidates) }
}

/** Where every Neuron stands now. */
export function everyNeuronVersion(sql: Sql): { seqId: string; blob: string; path: string; tags: string[] }[] {
  return sql.all`SELECT seq_id, blob, path, tags FROM neurons`.map((row) => ({
    seqId: String(row.seq_id),
    blob: String(row.blob),
    path: String(row.path),
    tags: JSON.parse(String(row.tags)),
  }))
}

/** The Neurons that main has changed or removed since one of its first-parent commits; undefined where it is none. */
export function changedSince(sql: Sql, commit: string): string[] | undefined {
  const since = sql.get`SELECT position FROM commits WHERE oid = ${commit}`
  if (since === undefined) return undefined
  return sql.all`SELECT DISTINCT seq_id FROM versions WHERE position > ${Number(since.position)}`.map(({ seq_id }) =>
    String(seq_id),
  )
}

/** The files of main that hold a seqId: one, unless somebody copied it. */
export function pathsOfSeqId(sql: Sql, seqId: string): string[] {
  return sql.all`SELECT path FROM files WHERE seq_id = ${seqId} ORDER BY path`.map(({ path }) => String(path))
}

/** Whether a candidate has brought the Neuron of this seqId, also one that is deleted now; else somebody made it up. */
export function wasGiven(sql: Sql, seqId: string): boolean {
  return (
    sql.get`SELECT 1 FROM versions JOIN approvals USING (candidate_id, seq_id)
      WHERE seq_id = ${seqId} AND version = 1` !== undefined
  )
}

/** The ids of the candidates that made the versions of a Neuron. */
export function candidatesOf(sql: Sql, seqId: string): string[] {
  const rows = sql.all`SELECT DISTINCT candidate_id FROM versions WHERE seq_id = ${seqId} AND candidate_id IS NOT NULL`
  return rows.map(({ candidate_id }) => String(candidate_id))
}

/** Whether main ever had a Neuron of this seqId. */
export function wasHeld(sql: Sql, seqId: string): boolean {
  return sql.get`SELECT 1 FROM versions WHERE seq_id = ${seqId} LIMIT 1` !== undefined
}

/** The Neurons whose document has or had this UUID, as it is written or in one case; also deleted ones. */
export function seqIdsOfDocument(sql: Sql, documentId: string): string[] {
  const [lower, upper] = [documentId.toLowerCase(), documentId.toUpperCase()]
  return sql.all`SELECT seq_id FROM neurons WHERE document_id IN (${documentId}, ${lower}, ${upper})
    UNION SELECT seq_id FROM approvals WHERE document_id IN (${documentId}, ${lower}, ${upper})
    ORDER BY seq_id`.map(({ seq_id }) => String(seq_id))
}

/** The UUID of a Neuron's document, also of one that is deleted now. */
export function documentOfSeqId(sql: Sql, seqId: string): string | undefined {
  const row = sql.get`SELECT document_id FROM versions JOIN approvals USING (candidate_id, seq_id)
    WHERE seq_id = ${seqId} AND document_id IS NOT NULL ORDER BY version DESC LIMIT 1`
  return row === undefined ? undefined : String(row.document_id)
}

/** What other files may mean a Neuron by. */
type NeuronNames = {
  path: string
  documentId: string | undefined
  title: string | undefined
  aliases: string[]
}

/** How a Neuron is called in its file; undefined where it is not there. */
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

/** The files that are no Neurons and answer to a key, read as it goes. */
export function* attachmentsByKey(sql: Sql, key: string): Generator<string> {
  for (const { path } of sql.iterate`SELECT path FROM attachments WHERE key = ${key}`) yield String(path)
}

/** The seqId of the file at a path of main. */
export function seqIdAtPath(sql: Sql, path: string): string | undefined {
  const row = sql.get`SELECT seq_id FROM files WHERE path = ${path}`
  return typeof row?.seq_id === 'string' ? row.seq_id : undefined
}

/** What no candidate has brought to main: a changed Neuron, a deleted one (without blob), or a page of version 0, which is no Neuron. */
export type UnapprovedRow = { seqId: string | undefined; version: number; path: string; blob: string | undefined }

export function unapproved(sql: Sql): UnapprovedRow[] {
  const rows = sql.all`SELECT seq_id, max(version) AS version, path, blob FROM unapproved JOIN versions USING (seq_id)
      GROUP BY seq_id
    UNION ALL SELECT NULL, 0, path, blob FROM files
      WHERE seq_id IS NULL AND path GLOB 'neurons/*.md' AND mode GLOB '100*'
    UNION ALL SELECT seq_id, 0, files.path, files.blob FROM files JOIN neurons USING (seq_id)
      WHERE files.path <> neurons.path AND seq_id IN (SELECT seq_id FROM files GROUP BY seq_id HAVING count(*) > 1)
    ORDER BY seq_id, path`
  return rows.map(({ seq_id, version, path, blob }) => ({
    seqId: seq_id === null ? undefined : String(seq_id),
    version: Number(version),
    path: String(path),
    blob: blob === null ? undefined : String(blob),
  }))
}
