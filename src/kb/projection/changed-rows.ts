import type { DatabaseSync, SQLInputValue, SQLOutputValue } from 'node:sqlite'
import { pauses } from '../../system/pauses.ts'

/** Rows of a table that work has changed: the keys of all of them, and the rows that exist now. */
export type ChangedRows = {
  table: string
  keys: readonly string[]
  gone: readonly SQLInputValue[][]
  rows: readonly SQLOutputValue[][]
}

/**
 * Starts recording changed rows.
 * @returns a function that reads the changed rows, once, in the same transaction, in which nothing may be written meanwhile
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

/** Number of rows that are read or written before other work may run. */
export const rowsOfSlice = 500

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
