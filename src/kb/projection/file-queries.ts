import { isTestPath } from '../../markdown/file/test-file.ts'
import type { LinkForm } from '../../rules/links/written-link.ts'
import { pathKey } from '../../rules/paths/portable-path.ts'
import type { MainTables } from './projection.ts'
import { allRows, nothing, query, rowsInBatches, type SqlQuery, type SqlRow } from './sql-query.ts'

type Sql = MainTables

/** Returns the blob of a file that is not a Neuron; undefined for any other path. */
export function fileBlob(sql: Sql, path: string): string | undefined {
  const row = sql.get`SELECT blob FROM files WHERE path = ${path} AND seq_id IS NULL AND mode GLOB '100*'`
  return row && String(row.blob)
}

/** Link that may name a file, with the page that contains it. */
export type FileReference = { seqId: string; page: string; target: string; form: LinkForm }

/** Returns the links to files of this name; see `fileNameKey`. */
export function referencesToFile(sql: Sql, nameKey: string): FileReference[] {
  return sql.all`SELECT links.seq_id AS seqId, path AS page, target, form FROM links JOIN neurons USING (seq_id)
    WHERE file_key = ${nameKey} AND kb IS NULL ORDER BY links.seq_id, ordinal` as FileReference[]
}

/** Returns the targets of a Neuron's links that may name files, in order. */
export function fileTargets(sql: Sql, seqId: string): string[] {
  return sql.all`SELECT target FROM links WHERE seq_id = ${seqId} AND file_key IS NOT NULL AND kb IS NULL
    ORDER BY ordinal`.map(({ target }) => String(target))
}

/** True if a file of main has this path, or one that collides with it on a file system that ignores case. */
function isPathTaken(sql: Sql, key: string): boolean {
  return sql.get`SELECT 1 FROM files WHERE path_key = ${key}` !== undefined
}

/** Returns the files of main that a file whose path has this key would replace: those at that path or below it. */
export function filesAtKey(sql: Sql, key: string): string[] {
  const rows = sql.all`SELECT path FROM files WHERE path_key = ${key} OR (path_key > ${`${key}/`} AND path_key < ${`${key}0`})`
  return rows.map(({ path }) => String(path))
}

/** True if a file of main has a path with this key, or is below it. @param isFree true for paths to ignore */
export function isNameTaken(sql: Sql, key: string, isFree: (path: string) => boolean = () => false): boolean {
  return filesAtKey(sql, key).some((path) => !isFree(path))
}

/** Returns the folder of a path, as the path spells it, that is a file on main. */
export function blockedFolder(sql: Sql, path: string): string | undefined {
  const folders = path.split('/').slice(0, -1)
  return folders.map((_, at) => folders.slice(0, at + 1).join('/')).find((folder) => isPathTaken(sql, pathKey(folder)))
}

/** Returns a path with the spelling of main for those folders that differ from folders of main only in case or normalization. */
export function asSpelledOnMain(sql: Sql, path: string): string {
  const folders = path.split('/')
  const file = folders.pop() ?? ''
  for (let depth = folders.length; depth > 0; depth--) {
    const key = pathKey(folders.slice(0, depth).join('/'))
    const row = sql.get`SELECT path FROM files WHERE path_key > ${`${key}/`} AND path_key < ${`${key}0`} LIMIT 1`
    if (row === undefined) continue
    return [...String(row.path).split('/').slice(0, depth), ...folders.slice(depth), file].join('/')
  }
  return path
}

/** True if a file of main prevents a new one at a path: at the path, below it, or in place of its folder. @param isFree as above */
export function isBlocked(sql: Sql, path: string, isFree?: (path: string) => boolean): boolean {
  return blockedFolder(sql, path) !== undefined || isNameTaken(sql, pathKey(path), isFree)
}

/** Returns the files of main that are no Neurons, by path. */
export function filesBesideNeurons(sql: Sql): { path: string; blob: string }[] {
  return sql.all`SELECT path, blob FROM files WHERE seq_id IS NULL AND mode GLOB '100*' ORDER BY path` as {
    path: string
    blob: string
  }[]
}

export function filePaths(sql: Sql): string[] {
  return sql.all`SELECT path FROM files`.map(({ path }) => String(path))
}

export function blobAtPath(sql: Sql, path: string): string | undefined {
  const row = sql.get`SELECT blob FROM files WHERE path = ${path}`
  return row && String(row.blob)
}

export function pathsOfSeqId(sql: Sql, seqId: string): string[] {
  return sql.all`SELECT path FROM files WHERE seq_id = ${seqId} ORDER BY path`.map(({ path }) => String(path))
}

/** Returns the paths with a key of files that are no Neurons. */
export function attachmentsByKey(sql: Sql, key: string): string[] {
  return sql.all`SELECT path FROM attachments WHERE key = ${key}`.map(({ path }) => String(path))
}

/** Returns the Neurons in a folder or below it, by path, read in batches. @param folder with a trailing slash; empty for the root */
export function neuronsInFolder(sql: Sql, folder: string): Iterable<string> {
  return neuronsAtPaths(sql, folder, nothing)
}

/** Returns the Neurons directly in a folder; see {@link neuronsInFolder}. */
export function neuronsBeside(sql: Sql, folder: string): Iterable<string> {
  return neuronsAtPaths(sql, folder, query`AND instr(substr(path, ${folder.length + 1}), '/') = 0`)
}

function neuronsAtPaths(sql: Sql, folder: string, condition: SqlQuery): Iterable<string> {
  return rowsInBatches<SqlRow>((last, limit) =>
    allRows(
      sql,
      query`SELECT path, seq_id FROM files WHERE path > ${last?.path ?? folder} AND path < ${folderEnd(folder)}
        AND seq_id IS NOT NULL ${condition} ORDER BY path LIMIT ${limit}`,
    ),
  ).map(({ seq_id }) => String(seq_id))
}

/** Yields the files in a folder or below it that are no Neurons, read in batches. @param folder as in {@link neuronsInFolder} */
export function filesInFolder(sql: Sql, folder: string): Generator<string> {
  return rowsInBatches<string>((last = folder, limit) =>
    sql.all`SELECT path FROM files WHERE path > ${last} AND path < ${folderEnd(folder)} AND seq_id IS NULL
      ORDER BY path LIMIT ${limit}`.map(({ path }) => String(path)),
  )
}

/** True if main has files of answer tests, even without tests in them. */
export function hasTestFiles(sql: Sql): boolean {
  return filesInFolder(sql, 'tests/').some(isTestPath)
}

/** Returns at most `max` Neurons that main ever had in a folder or below it, including deleted and moved ones. */
export function neuronsOnceInFolder(sql: Sql, folder: string, max: number): string[] {
  const rows = sql.all`SELECT DISTINCT seq_id FROM versions WHERE path > ${folder} AND path < ${folderEnd(folder)} LIMIT ${max}`
  return rows.map(({ seq_id }) => String(seq_id))
}

/** Returns the lowest key above all paths of a folder. */
const folderEnd = (folder: string) => (folder === '' ? '\u{10FFFF}' : `${folder.slice(0, -1)}0`)

export function seqIdAtPath(sql: Sql, path: string): string | undefined {
  const row = sql.get`SELECT seq_id FROM files WHERE path = ${path}`
  return typeof row?.seq_id === 'string' ? row.seq_id : undefined
}
