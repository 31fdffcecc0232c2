import { DatabaseSync } from 'node:sqlite'
import { projectionTables } from './projection-schema.ts'

/** Rows of a table that only one of two projections has, as JSON: their number, and the first few. */
export type TableDifference = { table: string; onlyLeft: RowSample; onlyRight: RowSample }
export type RowSample = { count: number; rows: string[] }

const sampleRows = 3
/** Queries that leave out rows about a projection's own past, which cannot be derived from git. */
const compared = { meta: `SELECT * FROM %.meta WHERE key NOT LIKE 'lost-%'` } as const
/** Columns that only number rows by insertion and are not compared. */
const uncompared: ReadonlySet<string> = new Set(['word_row'])

/** Returns the differences of two projections of the same heads; none if both follow git. */
export function compareProjections(left: string, right: string): TableDifference[] {
  using db = new DatabaseSync(left, { readOnly: true })
  db.prepare('ATTACH ? AS other').run(right)
  return projectionTables
    .map((table) => ({
      table,
      onlyLeft: onlyIn(db, table, 'main', 'other'),
      onlyRight: onlyIn(db, table, 'other', 'main'),
    }))
    .filter(({ onlyLeft, onlyRight }) => onlyLeft.count > 0 || onlyRight.count > 0)
}

/** Compares as multisets: a row that one side has twice is a difference. */
function onlyIn(db: DatabaseSync, table: (typeof projectionTables)[number], one: string, other: string): RowSample {
  const columns = db
    .prepare(`SELECT name FROM pragma_table_info('${table}')`)
    .all()
    .filter(({ name }) => !uncompared.has(String(name)))
    .map(({ name }) => `"${name}"`)
    .join(', ')
  const counted = (schema: string) => {
    const rows = table === 'meta' ? compared.meta.replace('%', schema) : `SELECT * FROM ${schema}.${table}`
    return `SELECT ${columns}, count(*) FROM (${rows}) GROUP BY ${columns}`
  }
  const rows = db.prepare(`${counted(one)} EXCEPT ${counted(other)}`).all()
  return { count: rows.length, rows: rows.slice(0, sampleRows).map((row) => JSON.stringify(row)) }
}
