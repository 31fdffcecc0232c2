import type { SQLOutputValue } from 'node:sqlite'
import type { MainTables } from './projection.ts'
import { rowsInBatches } from './sql-query.ts'

/** Title or alias of a Neuron as written, and the path of its file. */
export type FoundName = { seqId: string; title: string; name: string; kind: 'title' | 'alias'; path: string }

type Sql = MainTables

/** Returns titles and aliases whose key begins with this one, by key; read in batches. */
export function namesThatBegin(sql: Sql, key: string): Iterable<FoundName> {
  return nameBatches(
    (
      [first, ...rest],
      limit,
    ) => sql.all`SELECT key, seq_id, title, exact, kind, path FROM names JOIN neurons USING (seq_id)
      WHERE key >= ${first || key} AND key < ${`${key}\u{10FFFF}`} AND kind IN ('title', 'alias')
        AND (key, seq_id, kind, exact) > (${first}, ${rest[0]}, ${rest[1]}, ${rest[2]})
      ORDER BY key, seq_id, kind, exact LIMIT ${limit}`,
  )
}

/** Returns titles and aliases with a later word that begins with this key, by key; read in batches. */
export function namesWithWord(sql: Sql, key: string): Iterable<FoundName> {
  return nameBatches(
    (
      [first, ...rest],
      limit,
    ) => sql.all`SELECT key, seq_id, title, exact, kind, path FROM names JOIN neurons USING (seq_id)
      WHERE instr(key, ${` ${key}`}) > 0 AND kind IN ('title', 'alias')
        AND (key, seq_id, kind, exact) > (${first}, ${rest[0]}, ${rest[1]}, ${rest[2]})
      ORDER BY key, seq_id, kind, exact LIMIT ${limit}`,
  )
}

type StoredName = Record<string, SQLOutputValue>
type NamePosition = [key: string, seqId: string, kind: string, exact: string]

function nameBatches(read: (after: NamePosition, limit: number) => StoredName[]): Iterable<FoundName> {
  return rowsInBatches<StoredName>((last, limit) => {
    const text = (column: string) => String(last?.[column] ?? '')
    return read([text('key'), text('seq_id'), text('kind'), text('exact')], limit)
  }).map(toName)
}

function toName({ seq_id, title, exact, kind, path }: Record<string, unknown>): FoundName {
  const named = { seqId: String(seq_id), title: String(title), name: String(exact), path: String(path) }
  return { ...named, kind: kind === 'alias' ? 'alias' : 'title' }
}
