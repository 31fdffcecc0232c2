import { DatabaseSync, type SQLInputValue, type SQLOutputValue } from 'node:sqlite'
import { pauses } from '../../system/pauses.ts'
import { projectionTables } from './projection-schema.ts'

/** Changed rows of a table: the keys of all of them, and the rows that still exist. */
export type ChangedRows = {
  table: string
  keys: readonly string[]
  gone: readonly SQLInputValue[][]
  rows: readonly SQLOutputValue[][]
}

/**
 * Starts recording changed rows.
 * @returns a function that reads them, once, in the same transaction, in which nothing may be written meanwhile
 */
export function noteChanges(db: DatabaseSync, tables: readonly string[]): () => Promise<ChangedRows[]> {
  const session = db.createSession()
  return async () => {
    const byTable = keysIn(session.patchset())
    session.close()
    const pause = pauses()
    const changes: ChangedRows[] = []
    for (const table of tables) {
      const columns = db.prepare('SELECT cid, name FROM pragma_table_info(?) WHERE pk > 0').all(table)
      const keys = columns.map(({ name }) => String(name))
      const gone = (byTable.get(table) ?? []).map((row) => columns.map(({ cid }) => row.get(Number(cid)) ?? null))
      if (gone.length === 0) continue
      const find = db.prepare(`SELECT * FROM ${table} WHERE ${keys.map((key) => `${key} = ?`).join(' AND ')}`)
      find.setReturnArrays(true)
      const rows: SQLOutputValue[][] = []
      for (const [at, key] of gone.entries()) {
        if (at % rowsOfSlice === rowsOfSlice - 1) await pause()
        rows.push(...(find.all(...key) as unknown as SQLOutputValue[][]))
      }
      changes.push({ table, keys, gone, rows })
    }
    return changes
  }
}

/** Maximum rows that are read or written before other work may run. */
const rowsOfSlice = 500

const removed = 9
const [integer, real, text, blob] = [1, 2, 3, 4]

/**
 * Returns the keys in a patchset, by table: for each changed row the values of its key, by column number. The format is described in
 * SQLite's `sqlite3session.c`.
 */
function keysIn(patchset: Uint8Array): Map<string, Map<number, SQLInputValue>[]> {
  const bytes = Buffer.from(patchset)
  const found = new Map<string, Map<number, SQLInputValue>[]>()
  let at = 0
  const varint = (): number => {
    for (let value = 0; ; ) {
      const byte = bytes[at++] ?? 0
      value = value * 128 + (byte & 127)
      if (byte < 128) return value
    }
  }
  const value = (): SQLInputValue => {
    const type = bytes[at++]
    if (type === integer || type === real) {
      at += 8
      return type === integer ? Number(bytes.readBigInt64BE(at - 8)) : bytes.readDoubleBE(at - 8)
    }
    if (type !== text && type !== blob) return null
    const end = varint() + at
    const part = bytes.subarray(at, end)
    at = end
    return type === text ? part.toString() : part
  }
  while (at < bytes.length) {
    at++ // The marker of a table.
    const count = varint()
    const isKey = Array.from({ length: count }, () => bytes[at++] !== 0)
    const end = bytes.indexOf(0, at)
    const table = bytes.toString('utf8', at, end)
    const rows: Map<number, SQLInputValue>[] = []
    for (at = end + 1; at < bytes.length && bytes[at] !== 'P'.charCodeAt(0); ) {
      const isRemoved = bytes[at] === removed
      at += 2
      const row = new Map<number, SQLInputValue>()
      for (const [column, isOfKey] of isKey.entries()) {
        if (isRemoved && !isOfKey) continue
        const read = value()
        if (isOfKey) row.set(column, read)
      }
      rows.push(row)
    }
    found.set(table, [...(found.get(table) ?? []), ...rows])
  }
  return found
}

/**
 * Opens the tables of a file with changed rows applied, in one state until it is closed. Views have the names of the tables, and SQLite
 * resolves a name to a temporary one first, so every query uses them. They are in memory, with the indexes of the tables.
 */
export async function openLaidOver(file: string, changes: readonly ChangedRows[]): Promise<DatabaseSync> {
  const db = new DatabaseSync(file, { readOnly: true, timeout: 10_000 })
  try {
    db.exec('PRAGMA temp_store = MEMORY; BEGIN')
    const pause = pauses()
    for (const change of changes) await layOver(db, change, pause)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/** Tables that a preview changes: those of main. The tables of candidates stay as they are. */
export const laidOverTables = projectionTables.filter((table) => !table.startsWith('candidate'))

async function layOver(
  db: DatabaseSync,
  { table, keys, gone, rows }: ChangedRows,
  pause: () => Promise<void>,
): Promise<void> {
  const made = db
    .prepare('SELECT type, name, sql FROM main.sqlite_schema WHERE tbl_name = ? AND sql IS NOT NULL')
    .all(table)
  for (const { type, sql } of made) {
    if (type === 'table') db.exec(String(sql).replace(/^CREATE TABLE \w+/, `CREATE TEMP TABLE new_${table}`))
  }
  const key = keys.join(', ')
  db.exec(`CREATE TEMP TABLE gone_${table} (${key}, PRIMARY KEY (${key})) WITHOUT ROWID`)
  const isGone = keys.map((column) => `gone.${column} = held.${column}`).join(' AND ')
  db.exec(`CREATE TEMP VIEW ${table} AS SELECT * FROM main.${table} AS held
    WHERE NOT EXISTS (SELECT 1 FROM temp.gone_${table} AS gone WHERE ${isGone})
    UNION ALL SELECT * FROM temp.new_${table}`)
  const insert = async (name: string, values: ChangedRows['gone']) => {
    const statement = db.prepare(`INSERT INTO ${name} VALUES (${(values[0] ?? []).map(() => '?').join(', ')})`)
    for (const [at, row] of values.entries()) {
      if (at % rowsOfSlice === rowsOfSlice - 1) await pause()
      statement.run(...row)
    }
  }
  if (gone.length > 0) await insert(`gone_${table}`, gone)
  if (rows.length > 0) await insert(`new_${table}`, rows)
  // Sorting the rows of a page of 20,000 links is faster than inserting each into every index.
  for (const { type, name, sql } of made) {
    if (type === 'index') {
      db.exec(String(sql).replace(/^CREATE INDEX \w+\s+ON \w+/, `CREATE INDEX temp.new_${name} ON new_${table}`))
    }
  }
}
