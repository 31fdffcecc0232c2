import { hash } from 'node:crypto'
import type { Access } from '../../rules/access/audience.ts'
import type { Candidate } from '../../rules/candidates/candidate.ts'
import { wordsWithin } from '../../rules/neurons/resemblance.ts'
import { ascii, fold } from '../../rules/text/fold.ts'
import { accessInRow } from './neuron-queries.ts'
import type { Projection } from './projection.ts'

type Sql = Projection['write']

/** Maximum characters of a content that the queue's filter searches. */
const maxCharacters = 20_000
/** Maximum words of a filter. */
const maxWanted = 16

/** Returns a key that ignores case, diacritics and punctuation. Empty for a title without words. */
export function titleKey(title: string): string {
  return wordsWithin(title).join(' ')
}

/** Returns a key that ignores white space around the content. */
export function textKeyOf(content: string): string {
  return hash('sha256', content.trim(), 'hex').slice(0, 32)
}

/** Returns the words of a candidate's title and of the beginning of its content, for FTS5's tokenizer. */
function wordsOf({ title, content }: Candidate): string {
  const text = fold(`${title}\n${content.slice(0, maxCharacters)}`)
  // The tokenizer would take a whole run of characters for one word in scripts without spaces.
  return ascii.test(text) ? text : wordsWithin(text).join(' ')
}

/**
 * Indexes the words of a candidate. Must run in a transaction.
 * @returns the id of the row with its words, and whether the candidate was indexed already
 */
export function indexWords(sql: Sql, candidate: Candidate, textKey: string): { row: number; isKnown: boolean } {
  const { id, title } = candidate
  const key = `${textKey} ${title}`
  const known = sql.get`SELECT number, text_key FROM candidate_rows WHERE id = ${id}`
  const isKnown = known !== undefined
  if (known?.text_key === key) return { row: Number(known.number), isKnown }
  if (isKnown) sql.run`DELETE FROM candidate_rows WHERE id = ${id}`
  const row = Number(sql.run`INSERT INTO candidate_rows (id, text_key) VALUES (${id}, ${key})`.lastInsertRowid)
  sql.run`INSERT INTO candidate_words (rowid, words) VALUES (${row}, ${wordsOf(candidate)})`
  return { row, isKnown }
}

/** Maximum number of matches whose visibility is checked. */
const maxMatched = 2_000

/**
 * Returns Neurons of main to which candidates with all words of one of several sets were approved, the latest first. `sees` applies before
 * the limit: a hidden Neuron takes no place from a visible one.
 */
export function neuronsWithWords(
  sql: Sql,
  sets: readonly (readonly string[])[],
  { sees, limit }: { sees: (neuron: Access) => boolean; limit: number },
): string[] {
  if (sets.length === 0) return []
  const match = sets.map((words) => `(${words.map((word) => `"${word}"`).join(' AND ')})`).join(' OR ')
  const rows = sql.all`SELECT seq_id, tags, audience FROM candidate_words
      JOIN candidate_rows ON number = candidate_words.rowid JOIN approvals ON approvals.candidate_id = id JOIN neurons USING (seq_id)
    WHERE candidate_words MATCH ${match} ORDER BY candidate_words.rowid DESC LIMIT ${maxMatched}`
  const found = new Set<string>()
  for (const row of rows) {
    if (found.size === limit) break
    if (sees(accessInRow(row))) found.add(String(row.seq_id))
  }
  return [...found]
}

/**
 * Returns the FTS5 query for candidates that contain a word beginning with each word of a text. Single characters match whole words, since
 * too many words begin with them. Returns `undefined` if the text has no words.
 */
export function wordsQuery(text: string): string | undefined {
  const words = [...new Set(wordsWithin(text))].slice(0, maxWanted)
  return words.map((word) => (word.length === 1 ? `"${word}"` : `"${word}"*`)).join(' AND ') || undefined
}
