import type { Analyser } from '../text/analyser.ts'
import { isUnspaced } from '../text/script.ts'
import { compoundOf } from './compound.ts'
import { everyLeafOf, type Query, QueryError } from './query.ts'
import { itemsOf, type QueryItem } from './query-items.ts'
import { join, literalOf, phraseQuery, wordQuery } from './query-words.ts'

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
 * - Two words side by side are found as one, too (`back up`: `backup`), and an English noun as verb and particle.
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
  const items = itemsOf(q)
  for (const [index, item] of items.entries()) {
    if (item.type === 'operator') {
      isAlternative = item.operator === 'OR' || (isAlternative && item.operator === 'NOT')
      isNegated = item.operator === 'NOT' || isNegated
      continue
    }
    const query = item.type === 'phrase' ? phraseQuery(item.text, analyser) : wordQuery(item.text, analyser)
    if (query !== undefined) checkLimits(query, words)
    const found = query === undefined ? [] : [join('or', [query, ...compoundsAt(index, items, analyser)])]
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

/** What a word is together with the one before it, and with the one behind it. */
function compoundsAt(index: number, items: readonly QueryItem[], analyser: Analyser): Query[] {
  const [before, word, after] = [items[index - 1], items[index], items[index + 1]]
  const text = literalOf(word !== undefined && isPlain(word) ? word.text : '')
  return [
    [before, word],
    [word, after],
  ].flatMap(([first, second]): Query[] => {
    const term = isPlain(first) && isPlain(second) ? compoundOf(first.text, second.text, analyser) : undefined
    return term === undefined ? [] : [{ type: 'term', term, text }]
  })
}

function isPlain(item: QueryItem | undefined): item is QueryItem & { type: 'word' } {
  return item?.type === 'word' && !item.negated
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
