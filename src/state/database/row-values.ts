type CamelName<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<CamelName<Rest>>}`
  : Name
type SnakeName<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeName<Rest>}`
  : Name

/** Row with the program's names of columns. */
export type Camel<Row> = { [Name in keyof Row & string as CamelName<Name>]: Row[Name] }
type Snake<Values> = { [Name in keyof Values & string as SnakeName<Name>]: Values[Name] }

const camelNames = new Map<string, string>()
const snakeNames = new Map<string, string>()

export function camelCase<Row extends Record<string, unknown>>(row: Row): Camel<Row> {
  const nameOf = (column: string) => column.replaceAll(/_[a-z]/g, ([, letter = '']) => letter.toUpperCase())
  return renamed(row, (column) => camelNames.getOrInsertComputed(column, nameOf)) as Camel<Row>
}

export function snakeCase<Values extends Record<string, unknown>>(values: Values): Snake<Values> {
  const columnOf = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return renamed(values, (name) => snakeNames.getOrInsertComputed(name, columnOf)) as Snake<Values>
}

function renamed(record: Readonly<Record<string, unknown>>, nameOf: (name: string) => string): object {
  const result: Record<string, unknown> = {}
  for (const name in record) result[nameOf(name)] = record[name]
  return result
}

/** Returns the time `milliseconds` after another (before it if negative) as in rows: ISO 8601, UTC. */
export function timeAfter(now: Date, milliseconds: number): string {
  return new Date(now.getTime() + milliseconds).toISOString()
}

export function daysBefore(now: Date, days: number): string {
  return timeAfter(now, -days * 24 * 60 * 60 * 1000)
}
