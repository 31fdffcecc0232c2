import type { SQLInputValue, SQLTagStore } from 'node:sqlite'

/** SQL that is put together from parts; its values are bound. */
export type SqlQuery = { strings: readonly string[]; values: readonly SQLInputValue[] }

/** A part that adds nothing. */
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

/** All rows of a query. Statements are cached by their text. */
export function allRows(sql: SQLTagStore, { strings, values }: SqlQuery): Record<string, unknown>[] {
  return sql.all(Object.assign([...strings], { raw: strings }), ...values)
}

/** The rows of a query, read as they are asked for. */
export function eachRow(sql: SQLTagStore, { strings, values }: SqlQuery): Iterable<Record<string, unknown>> {
  return sql.iterate(Object.assign([...strings], { raw: strings }), ...values)
}
