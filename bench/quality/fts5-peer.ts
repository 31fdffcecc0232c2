import { DatabaseSync } from 'node:sqlite'
import { z } from 'zod'
import type { Ranker } from './ranker.ts'
import { wordsOf } from './words.ts'

const rows = z.array(z.object({ id: z.string() }))

/** SQLite's FTS5 as it comes: its porter tokenizer, its bm25, title and text as one text, any word of the question. */
export function fts5Peer(): Ranker {
  const database = new DatabaseSync(':memory:')
  database.exec(`CREATE VIRTUAL TABLE document USING fts5(id UNINDEXED, text, tokenize = 'porter unicode61')`)
  const insert = database.prepare('INSERT INTO document (id, text) VALUES (?, ?)')
  const select = database.prepare(
    'SELECT id FROM document WHERE document MATCH ? ORDER BY bm25(document), rowid LIMIT ?',
  )
  return {
    name: 'FTS5, porter',
    index: async (documents) => {
      database.exec('BEGIN; DELETE FROM document')
      for (const { id, title, text } of documents) insert.run(id, `${title}\n${text}`)
      database.exec('COMMIT')
    },
    rank: async (question, limit) => {
      const match = wordsOf(question)
        .map((word) => `"${word}"`)
        .join(' OR ')
      return match === '' ? [] : rows.parse(select.all(match, limit)).map(({ id }) => id)
    },
  }
}
