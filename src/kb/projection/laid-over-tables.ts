import { DatabaseSync } from 'node:sqlite'
import { pauses } from '../../system/pauses.ts'
import { type ChangedRows, rowsOfSlice } from './changed-rows.ts'
import { projectionTables } from './projection-schema.ts'

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
