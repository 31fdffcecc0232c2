import { fold } from '../../rules/text/fold.ts'
import type { Analyser } from '../text/analyser.ts'
import { isUnspaced } from '../text/script.ts'
import { foldWord, plainApostrophes } from '../text/spelling.ts'
import { type Token, unjoined } from '../text/tokens.ts'
import type { Query } from './query-tree.ts'

/** Returns the query for a word; undefined if it is punctuation or stop words only. */
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

/** Lengths of Hangul words that are also written with a space. Shorter ones have none. */
const hangul = /^[가-힣]{4,10}$/

/** Divides a Hangul word in two at each place: `데이터 베이스`. */
function spacedOut(typed: string, analyser: Analyser): Query[] {
  const text = literalOf(typed)
  return Array.from({ length: typed.length - 3 }, (_, at) => {
    const tokens = analyser.tokens(`${typed.slice(0, at + 2)} ${typed.slice(at + 2)}`)
    // A particle may follow the word.
    return { type: 'phrase', terms: tokens.slice(0, -1).map(({ term }) => term), text }
  })
}

/** Folds a text to one line, for the comparison of notes. */
export function literalOf(text: string): string {
  return plainApostrophes(fold(text)).replace(/\s+/g, ' ').trim()
}

/** Joins queries by `or` or `and`. Equal ones count once. */
export function joinWords(type: 'and' | 'or', queries: readonly Query[]): Query {
  const [only, ...others] = queries
  if (only !== undefined && others.length === 0) return only
  const distinct = [...new Map(queries.map((query) => [soughtBy(query), query])).values()]
  const [first] = distinct
  return first !== undefined && distinct.length === 1 ? first : { type, queries: distinct }
}

/** Returns a key for a query that ignores its typed text. Terms contain no spaces. */
function soughtBy(query: Query): string {
  if (query.type === 'and' || query.type === 'or') return `${query.type} (${query.queries.map(soughtBy).join()})`
  if (query.type === 'not') return `not (${soughtBy(query.query)})`
  const sought = query.type === 'term' ? query.term : query.type === 'prefix' ? query.prefix : query.terms.join(' ')
  return `${query.type} ${sought} ${query.weight ?? 1} ${query.isBonus ?? false}`
}

/** Returns the query for a typed prefix of one or more words: only the last word may continue. */
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

/** Returns the query for consecutive words, as written or joined; undefined if there is none. */
export function phraseQuery(typed: string, analyser: Analyser): Query | undefined {
  const text = literalOf(typed)
  const spellings = [...new Set([typed, unjoined(typed)])].flatMap((spelling) => {
    const tokens = analyser.tokens(spelling)
    const [last, beforeLast] = [tokens.at(-1), tokens.at(-2)]
    if (last === undefined || !isUnspaced(last.term)) return sequence(tokens, text)
    // The last character of a run is a token of its own, but a longer run has it only in a pair.
    if (beforeLast !== undefined && last.start < beforeLast.end) return sequence(tokens.slice(0, -1), text)
    const others = sequence(analyser.tokens(spelling.slice(0, last.start)), text)
    return [joinWords('and', [...others, { type: 'prefix', prefix: last.term, text }])]
  })
  return spellings.length === 0 ? undefined : joinWords('or', spellings)
}

/** Returns the query for tokens at consecutive positions; empty if there are none. */
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

/** Endings that stemmers remove, of English words and of Romance words in other languages. */
const endings =
  `s es ed er ies ing ly ness ment able ible ably ance ence ant ent ive al ally ous ful ism ist ity ion ation ational
  ize izing ization`.split(/\s+/)

/**
 * Returns the stems of words with a prefix that do not begin with it: an index contains `escal` for `escalation`, which begins
 * with `escalati`. Adds each ending to the prefix, and the rest of an ending that has begun.
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

const lettersOnly = /^\p{L}[\p{L}\p{M}]*$/u

/**
 * Returns the term of two words that are also written as one, such as `website` for `web site`. Undefined unless both are words
 * of letters in a script with spaces. Stop words count only as particles, as in `back up`.
 */
export function compoundOf(first: string, second: string, analyser: Analyser): string | undefined {
  const isWord = (word: string) => lettersOnly.test(word) && !isUnspaced(word)
  const isStopWord = (word: string) => analyser.isStopWord(foldWord(word))
  if (!isWord(first) || !isWord(second)) return undefined
  const compound = (first + second).toLowerCase()
  if ((isStopWord(first) || isStopWord(second)) && analyser.split(compound) === undefined) return undefined
  const tokens = analyser.tokens(compound)
  return tokens.length === 1 ? tokens[0]?.term : undefined
}

/** Maximum words of a question to pair. */
const maxWords = 64

/** Returns the terms of nouns that a text writes as verb and particle (`backup` for `back up`). */
export function particleNouns(text: string, analyser: Analyser): string[] {
  const words = text.split(/\s+/, maxWords)
  const nouns = words.flatMap((word, index) => {
    const next = words[index + 1] ?? ''
    return analyser.split(word + next) === undefined ? [] : (compoundOf(word, next, analyser) ?? [])
  })
  return [...new Set(nouns)]
}

export type QuestionTerm = { term: string; weight: number }

const maxTerms = 64

/** Weight of an alternative term of a word. */
const alsoWeight = 0.5

/**
 * Returns the terms of a question without stop words, at most 64: by weight, then by position. The weight is the number of
 * occurrences, half for alternative terms.
 */
export function questionTerms(text: string, analyser: Analyser): QuestionTerm[] {
  const weights = new Map<string, number>()
  const idle = new Set<string>()
  const add = (term: string, weight: number) => weights.set(term, (weights.get(term) ?? 0) + weight)
  let lastEnd = 0
  for (const { start, end, term, also } of analyser.tokens(text)) {
    // The previous pair contains this character.
    if (end === lastEnd) continue
    lastEnd = end
    const word = text.slice(start, end)
    const isStopWord = analyser.isStopWord(foldWord(word))
    if (analyser.isIdle(foldWord(word) || word)) idle.add(term)
    if (!isStopWord) add(term, 1)
    // A stop word can begin a longer word: `oncall` of `on-call`.
    for (const other of also) if (!isStopWord || other.length > end - start) add(other, alsoWeight)
  }
  const said = [...weights].filter(([term]) => !idle.has(term))
  return (said.length > 0 ? said : [...weights])
    .map(([term, weight]) => ({ term, weight }))
    .sort((a, b) => b.weight - a.weight)
    .slice(0, maxTerms)
}
