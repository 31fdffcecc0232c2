import type { MainTables } from './projection.ts'

/** A title or an alias of a Neuron, as it is written, and where its file stands. */
export type FoundName = { seqId: string; title: string; name: string; kind: 'title' | 'alias'; path: string }

type Sql = MainTables

/** Titles and aliases whose key begins with this one, by key; read as it goes. */
export function* namesThatBegin(sql: Sql, key: string): Generator<FoundName> {
  const rows = sql.iterate`SELECT seq_id, title, exact, kind, path FROM names JOIN neurons USING (seq_id)
    WHERE key >= ${key} AND key < ${`${key}\u{10FFFF}`} AND kind IN ('title', 'alias') ORDER BY key, seq_id, kind DESC`
  for (const row of rows) yield toName(row)
}

/** Titles and aliases in whose key another word than the first begins with this one, by key; read as it goes. */
export function* namesWithWord(sql: Sql, key: string): Generator<FoundName> {
  const rows = sql.iterate`SELECT seq_id, title, exact, kind, path FROM names JOIN neurons USING (seq_id)
    WHERE instr(key, ${` ${key}`}) > 0 AND kind IN ('title', 'alias') ORDER BY key, seq_id, kind DESC`
  for (const row of rows) yield toName(row)
}

function toName({ seq_id, title, exact, kind, path }: Record<string, unknown>): FoundName {
  const named = { seqId: String(seq_id), title: String(title), name: String(exact), path: String(path) }
  return { ...named, kind: kind === 'alias' ? 'alias' : 'title' }
}
