import type { Analyser } from './analyser.ts'
import { itemsOf } from './query-items.ts'
import { join, literalOf, phraseQuery, wordQuery } from './query-words.ts'
import { isUnspaced } from './script.ts'

/** What a query looks for in a page; `text` is what was typed for it, by `literalOf`. */
export type Leaf =
  | { type: 'term'; term: string; text: string }
  /** Folded, not stemmed, at least 2 characters; 1 of the scripts without spaces. */
  | { type: 'prefix'; prefix: string; text: string }
  /** At least 2 terms at consecutive positions. */
  | { type: 'phrase'; terms: readonly string[]; text: string }

export type Query =
  | Leaf
  | { type: 'and'; queries: readonly Query[] }
  | { type: 'or'; queries: readonly Query[] }
  /** Only in an `and` that has something else. */
  | { type: 'not'; query: Query }

const maxWords = 32
const minPrefix = 2

/**
 * Reads the query language. All words must match, in any order, in any inflection; stop words need not.
 * - `"a phrase"`, also in typographic quotes: its words, stop words too, one after the other. A quote that is not closed, or
 *   inside a word, is punctuation.
 * - `a OR b`, in capitals: either. It binds tighter than the words beside it, as in web search: `a b OR c` is `a` and one
 *   of `b` and `c`. `AND` is what stands between words anyway.
 * - `-word`, `-"a phrase"`, `NOT word`: not that, also where `OR` stands before it.
 * - `pre*`: words that begin so, and the stems of words that could. Only at the end of a word.
 * - A word that divides (`foo-bar`, `GitHub`, Chinese) is a phrase of its parts, or the whole in one.
 * - Everything else is punctuation, parentheses as well.
 *
 * Takes time linear in the length.
 * @returns undefined where it can match nothing: only stop words, operators or negations.
 * @throws {QueryError} for more than 32 different words, or a prefix of one letter.
 */
export function parseQuery(q: string, analyser: Analyser): Query | undefined {
  const words = new Set<string>()
  const required: Query[][] = []
  const excluded: Query[] = []
  let alternatives: Query[] | undefined
  let isAlternative = false
  let isNegated = false
  for (const item of itemsOf(q)) {
    if (item.type === 'operator') {
      isAlternative = item.operator === 'OR' || (isAlternative && item.operator === 'NOT')
      isNegated = item.operator === 'NOT' || isNegated
      continue
    }
    const query = item.type === 'phrase' ? phraseQuery(item.text, analyser) : wordQuery(item.text, analyser)
    if (query !== undefined) checkLimits(query, words)
    const found = query === undefined ? [] : [query]
    if (isNegated || item.negated) {
      excluded.push(...found)
      // As in Lucene, where `a OR -b OR c` is one of `a` and `c`, and not `b`.
      if (!isAlternative) alternatives = undefined
    } else if (isAlternative && alternatives !== undefined) {
      alternatives.push(...found)
    } else {
      alternatives = found
      required.push(alternatives)
    }
    isAlternative = false
    isNegated = false
  }
  const positive = required.filter((group) => group.length > 0).map((group) => join('or', group))
  if (positive.length === 0) return undefined
  return join('and', [...positive, ...excluded.map((query): Query => ({ type: 'not', query }))])
}

/** @param words of the query before, as typed; those of this part are added. */
function checkLimits(part: Query, words: Set<string>): void {
  for (const leaf of everyLeafOf(part)) {
    for (const word of leaf.type === 'phrase' ? leaf.text.split(' ') : [leaf.text]) words.add(word)
    if (leaf.type === 'prefix' && !isUnspaced(leaf.prefix) && [...leaf.prefix].length < minPrefix) {
      throw new QueryError(`A prefix has at least ${minPrefix} characters before the asterisk.`)
    }
  }
  if (words.size > maxWords) throw new QueryError(`A query has at most ${maxWords} different words.`)
}

/** What a page may be found by: all leaves but those that are negated. */
export function leavesOf(query: Query): Leaf[] {
  return query.type === 'not' ? [] : partsOf(query, leavesOf)
}

export function everyLeafOf(query: Query): Leaf[] {
  return query.type === 'not' ? everyLeafOf(query.query) : partsOf(query, everyLeafOf)
}

function partsOf(query: Exclude<Query, { type: 'not' }>, leaves: (query: Query) => Leaf[]): Leaf[] {
  return query.type === 'and' || query.type === 'or' ? query.queries.flatMap(leaves) : [query]
}

/** Whether a query matches a note, where what was typed for each leaf is looked for as a part of the text, inside words too. */
export function matchesNote(query: Query, note: string): boolean {
  const text = literalOf(note)
  const matches = (part: Query): boolean => {
    if (part.type === 'and') return part.queries.every(matches)
    if (part.type === 'or') return part.queries.some(matches)
    if (part.type === 'not') return !matches(part.query)
    return text.includes(part.text)
  }
  return matches(query)
}

/** A query beyond the limits; the message is for who typed it. */
export class QueryError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'QueryError'
  }
}
