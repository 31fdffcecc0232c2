import { createHash } from 'node:crypto'
import type { Candidate } from '../../knowledge/candidate.ts'
import { wordsWithin } from '../../knowledge/resemblance.ts'
import type { Projection } from './projection.ts'

type Sql = Projection['write']

/** Characters of a content, and different words of a candidate, by which the queue is filtered. */
const maxCharacters = 20_000
const maxWords = 1_000
/** Words of a filter. */
const maxWanted = 16

/** Titles that differ only in case, diacritics and punctuation have the same key. Empty where a title has no words. */
export function titleKey(title: string): string {
  return wordsWithin(title).join(' ')
}

/** Contents with the same key say the same, but for white space around them. */
export function textKeyOf(content: string): string {
  return createHash('sha256').update(content.trim()).digest('hex').slice(0, 32)
}

/**
 * Makes a candidate findable by the words of its title and the beginning of its content. Within a transaction.
 * @returns the row of its words
 */
export function indexWords(sql: Sql, { id, title, content }: Candidate, textKey: string): number {
  const key = `${textKey} ${title}`
  const known = sql.get`SELECT number, text_key FROM candidate_rows WHERE id = ${id}`
  if (known?.text_key === key) return Number(known.number)
  const words = new Set(wordsWithin(`${title}\n${content.slice(0, maxCharacters)}`))
  sql.run`DELETE FROM candidate_rows WHERE id = ${id}`
  const row = Number(sql.run`INSERT INTO candidate_rows (id, text_key) VALUES (${id}, ${key})`.lastInsertRowid)
  sql.run`INSERT INTO candidate_words (rowid, words) VALUES (${row}, ${[...words].slice(0, maxWords).join(' ')})`
  return row
}

/**
 * Returns the FTS5 query for candidates that hold a word that begins with each word of a text. Single characters match whole
 * words, since they begin too many. Returns `undefined` if the text has no words.
 */
export function wordsQuery(text: string): string | undefined {
  const words = [...new Set(wordsWithin(text))].slice(0, maxWanted)
  return words.map((word) => (word.length === 1 ? `"${word}"` : `"${word}"*`)).join(' AND ') || undefined
}
