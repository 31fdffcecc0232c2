import { fold } from '../../rules/text/fold.ts'
import type { Analyser } from '../text/analyser.ts'
import { foldWord, plainApostrophes } from '../text/fold-word.ts'
import { isUnspaced } from '../text/script.ts'
import { type Token, unjoined } from '../text/tokens.ts'
import type { Query } from './query-tree.ts'

/** What a word of a query asks for; undefined where it is only punctuation, or stop words. */
export function wordQuery(word: string, analyser: Analyser): Query | undefined {
  const tokens = analyser.tokens(word)
  const [first, last] = [tokens[0], tokens.at(-1)]
  if (first === undefined || last === undefined) return undefined
  const typed = word.slice(first.start, last.end)
  const isPrefix = word[last.end] === '*' && word[last.end + 1] !== '*' && foldWord(typed) !== ''
  if (isPrefix && !isUnspaced(word.slice(last.start))) return prefixQuery(typed, analyser)
  if (tokens.every(({ start, end }) => analyser.isStopWord(foldWord(word.slice(start, end))))) return undefined
  const query = phraseQuery(typed, analyser)
  if (query !== undefined && hangul.test(typed)) return joinWords('or', [query, ...spacedOut(typed, analyser)])
  const split = tokens.length === 1 ? analyser.split(typed) : undefined
  if (query === undefined || split === undefined) return query
  return joinWords('or', [
    query,
    { type: 'phrase', terms: analyser.tokens(split).map(({ term }) => term), text: literalOf(typed) },
  ])
}

/** Words of a length that people write with a space or without; what is shorter has none. */
const hangul = /^[가-힣]{4,10}$/

/** A word of Hangul as two, divided at any place: `데이터 베이스`. */
function spacedOut(typed: string, analyser: Analyser): Query[] {
  const text = literalOf(typed)
  return Array.from({ length: typed.length - 3 }, (_, at) => {
    const tokens = analyser.tokens(`${typed.slice(0, at + 2)} ${typed.slice(at + 2)}`)
    // A particle may follow where the word ends.
    return { type: 'phrase', terms: tokens.slice(0, -1).map(({ term }) => term), text }
  })
}

/** Folded, in one line: what notes are compared by. */
export function literalOf(text: string): string {
  return plainApostrophes(fold(text)).replace(/\s+/g, ' ').trim()
}

/** One of several queries, or all of them; those that look for the same count once. */
export function joinWords(type: 'and' | 'or', queries: readonly Query[]): Query {
  const [only, ...others] = queries
  if (only !== undefined && others.length === 0) return only
  const distinct = [...new Map(queries.map((query) => [soughtBy(query), query])).values()]
  const [first] = distinct
  return first !== undefined && distinct.length === 1 ? first : { type, queries: distinct }
}

/** A query without how it was typed. Terms have no spaces. */
function soughtBy(query: Query): string {
  if (query.type === 'and' || query.type === 'or') return `${query.type} (${query.queries.map(soughtBy).join()})`
  if (query.type === 'not') return `not (${soughtBy(query.query)})`
  const sought = query.type === 'term' ? query.term : query.type === 'prefix' ? query.prefix : query.terms.join(' ')
  return `${query.type} ${sought} ${query.weight ?? 1} ${query.isBonus ?? false}`
}

/** Words that begin as the last word of what is typed does, and before it the others. */
function prefixQuery(typed: string, analyser: Analyser): Query {
  const text = literalOf(typed)
  const spellings = [...new Set([typed.toLowerCase(), unjoined(typed)])].flatMap((spelling) => {
    const tokens = analyser.tokens(spelling)
    const last = tokens.at(-1)
    if (last === undefined) return []
    const prefix = foldWord(spelling.slice(last.start, last.end))
    const stems = prefixStems(prefix, analyser).map((term): Query => ({ type: 'term', term, text }))
    const beginning = joinWords('or', [{ type: 'prefix', prefix, text }, ...stems])
    return [joinWords('and', [...sequence(analyser.tokens(spelling.slice(0, last.start)), text), beginning])]
  })
  return joinWords('or', spellings)
}

/** What words one after the other ask for, as they are written or undivided; undefined where there is none. */
export function phraseQuery(typed: string, analyser: Analyser): Query | undefined {
  const text = literalOf(typed)
  const spellings = [...new Set([typed, unjoined(typed)])].flatMap((spelling) => {
    const tokens = analyser.tokens(spelling)
    const [last, beforeLast] = [tokens.at(-1), tokens.at(-2)]
    if (last === undefined || !isUnspaced(last.term)) return sequence(tokens, text)
    // The last character of a run: a text where the run goes on has it only in a pair.
    if (beforeLast !== undefined && last.start < beforeLast.end) return sequence(tokens.slice(0, -1), text)
    const others = sequence(analyser.tokens(spelling.slice(0, last.start)), text)
    return [joinWords('and', [...others, { type: 'prefix', prefix: last.term, text }])]
  })
  return spellings.length === 0 ? undefined : joinWords('or', spellings)
}

/** The terms of tokens at consecutive positions; none of no token. */
function sequence(tokens: readonly Token[], text: string): Query[] {
  const [first, ...others] = tokens
  if (first === undefined) return []
  if (others.length > 0) return [{ type: 'phrase', terms: tokens.map(({ term }) => term), text }]
  return [
    joinWords(
      'or',
      [first.term, ...first.also].map((term): Query => ({ type: 'term', term, text })),
    ),
  ]
}

/** What English and the Romance words in other languages end in when a stemmer shortens them. */
const endings =
  `s es ed er ies ing ly ness ment able ible ably ance ence ant ent ive al ally ous ful ism ist ity ion ation ational
  ize izing ization`.split(/\s+/)

/**
 * Stems that do not begin with a prefix, of words that could: an index holds `escal` for `escalation`, which `escalati`
 * begins. Each ending is put behind the prefix, and behind what of the ending the prefix has already.
 */
function prefixStems(prefix: string, analyser: Analyser): string[] {
  const stems = new Set<string>()
  for (const word of [prefix, ...completions(prefix)]) {
    const [token, ...others] = analyser.tokens(word)
    if (token !== undefined && others.length === 0 && !token.term.startsWith(prefix)) stems.add(token.term)
  }
  return [...stems]
}

function* completions(prefix: string): Generator<string> {
  for (const ending of endings) {
    for (let held = 0; held < ending.length; held++) {
      if (prefix.endsWith(ending.slice(0, held))) yield prefix + ending.slice(held)
    }
  }
}
