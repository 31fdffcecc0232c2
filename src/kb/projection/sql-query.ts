import type { SQLInputValue, SQLOutputValue } from 'node:sqlite'
import type { MainTables } from './projection.ts'

/** SQL composed from parts, with bound values. */
export type SqlQuery = { strings: readonly string[]; values: readonly SQLInputValue[] }

/** Row whose columns are named as the fields that are read from it. */
export type SqlRow = Record<string, SQLOutputValue>

/** Empty query part. */
export const nothing = query``

export function query(strings: TemplateStringsArray, ...parts: readonly (SQLInputValue | SqlQuery)[]): SqlQuery {
  const joined: string[] = [strings[0] ?? '']
  const values: SQLInputValue[] = []
  const append = (text: string) => joined.push((joined.pop() ?? '') + text)
  for (const [at, part] of parts.entries()) {
    if (isQuery(part)) {
      append(part.strings[0] ?? '')
      joined.push(...part.strings.slice(1))
      values.push(...part.values)
    } else {
      values.push(part)
      joined.push('')
    }
    append(strings[at + 1] ?? '')
  }
  return { strings: joined, values }
}

function isQuery(part: SQLInputValue | SqlQuery): part is SqlQuery {
  return typeof part === 'object' && part !== null && 'strings' in part
}

/** Returns all rows of a query. Statements are cached by their text. */
export function allRows(sql: MainTables, { strings, values }: SqlQuery): SqlRow[] {
  return sql.all(Object.assign([...strings], { raw: strings }), ...values)
}

/** Returns a row with `undefined` in place of NULL. */
export function withoutNulls<Row>(row: SqlRow): Row {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value ?? undefined])) as Row
}

/** Maximum number of rows in the first batch, and in later ones. */
const [firstBatch, largestBatch] = [32, 1_024]

/**
 * Reads rows on demand, in batches that are each read whole: no statement stays open while the caller awaits, or runs the same query again.
 * @param read returns at most `limit` rows after `last`, or the first ones
 */
export function* rowsInBatches<Row>(read: (last: Row | undefined, limit: number) => Row[]): Generator<Row, void> {
  let last: Row | undefined
  for (let limit = firstBatch; ; limit = Math.min(4 * limit, largestBatch)) {
    const rows = read(last, limit)
    yield* rows
    if (rows.length < limit) return
    last = rows.at(-1)
  }
}
