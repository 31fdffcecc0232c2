import type { Analyser } from '../text/analyser.ts'
import { nameWord, wholeName } from '../text/name-terms.ts'
import { isUnspaced } from '../text/script.ts'
import { foldWord } from '../text/spelling.ts'
import { type FilterGroup, itemsOf, type QueryItem } from './filters.ts'
import { everyLeafOf, type Leaf, leavesOf, type Query, QueryError, weighted } from './query-tree.ts'
import { compoundOf, joinWords, literalOf, phraseQuery, wordQuery } from './query-words.ts'
import type { Synonyms } from './synonyms.ts'

const maxWords = 32
const minPrefix = 2

/** Part of a query that must match. */
export type QueryPart = {
  query: Query
  /** Typed text if the part is one word, which may be misspelled. `at`: its start in the query, in UTF-16 units. */
  word?: { text: string; at: number }
  /** Typed text if the part is a phrase in quotes. */
  quoted?: string
}

export type ParsedQuery = {
  required: readonly QueryPart[]
  excluded: readonly Query[]
  /** Filters that must all hold. */
  filters: readonly FilterGroup[]
  /** All words as typed, if they can be the name of a page: no operators. */
  name: string | undefined
  /** True if the last word is still being typed. */
  isOpen: boolean
}

/**
 * Parses the query language. All words must match, in any order and inflection; stop words need not.
 * - `"a phrase"`, also in typographic quotes: its words, including stop words, one after the other. A quote that is not closed, or
 *   inside a word, is punctuation.
 * - `a OR b`, in capitals: either. It binds tighter than adjacent words, as in web search: `a b OR c` is `a` and one of `b` and `c`.
 *   `AND` is optional.
 * - `-word`, `-"a phrase"`, `NOT word`: excludes matches, also after `OR`.
 * - `pre*`: words with this prefix, and the stems of such words. Only at the end of a word.
 * - A divisible word (`foo-bar`, `GitHub`, Chinese) matches as a phrase of its parts, or as a whole.
 * - Two adjacent words also match as one (`back up`: `backup`), and an English noun as verb and particle.
 * - `tag:x`, `path:x`, `title:x`, `kind:wiki`, `before:2026-05`, `after:2026`: a filter; its value may be quoted. `OR` between two
 *   filters means either. An unknown prefix, as in `std::x`, makes a word.
 * - Everything else is punctuation, including parentheses.
 *
 * Takes time linear in the length.
 * @param options.isTyped the last word is still being typed, so it also counts as a prefix
 * @param options.synonyms groups of words and phrases that find each other
 * @returns undefined if nothing can match: only stop words, operators or negations, and no filter
 * @throws {QueryError} for more than 32 different words, or a prefix of one letter
 */
export function parseQuery(
  q: string,
  analyser: Analyser,
  { isTyped = false, synonyms }: { isTyped?: boolean; synonyms?: Synonyms } = {},
): ParsedQuery | undefined {
  const words = new Set<string>()
  const required: Alternatives[] = []
  const excluded: Query[] = []
  const filters: FilterGroup[] = []
  let alternatives: Alternatives | undefined
  let isAlternative = false
  let isNegated = false
  let isOpen = false
  const items = itemsOf(q)
  const alsoCalled = synonyms?.ofItems(items, analyser)
  for (const [index, item] of items.entries()) {
    if (item.type === 'operator') {
      isAlternative = item.operator === 'OR' || (isAlternative && item.operator === 'NOT')
      isNegated = item.operator === 'NOT' || isNegated
      continue
    }
    if (item.type === 'filter') {
      const group = filters.at(-1)
      const isJoined = isAlternative && items[index - 2]?.type === 'filter' && group?.isNegated === false
      if (isNegated || item.negated) filters.push({ any: [item.filter], isNegated: true })
      else if (isJoined) group.any.push(item.filter)
      else filters.push({ any: [item.filter], isNegated: false })
      alternatives = undefined
      isAlternative = false
      isNegated = false
      continue
    }
    isOpen = isTyped && !isNegated && item.at + item.text.length === q.length && mayGoOn(item)
    const query = isOpen ? openQuery(item.text, analyser) : queryOfItem(item, analyser)
    if (query !== undefined) checkLimits(query, words)
    const found =
      query === undefined
        ? []
        : [joinWords('or', [query, ...compoundsAt(index, items, analyser), ...(alsoCalled?.[index] ?? [])])]
    if (isNegated || item.negated) {
      excluded.push(...found)
      // `a OR -b OR c` is one of `a` and `c`, and not `b`, as in Lucene.
      if (!isAlternative) alternatives = undefined
    } else if (isAlternative && alternatives !== undefined) {
      alternatives.queries.push(...found)
      alternatives.items.push(item)
    } else {
      alternatives = { queries: found, items: [item] }
      required.push(alternatives)
    }
    isAlternative = false
    isNegated = false
  }
  const parts = withoutIdle(required.filter(({ queries }) => queries.length > 0).map(toPart), analyser)
  if (parts.length === 0 && filters.every((group) => group.isNegated)) return undefined
  return { required: parts, excluded, filters, name: nameOf(items), isOpen }
}

function nameOf(items: readonly QueryItem[]): string | undefined {
  if (items.some(({ type }) => type === 'operator')) return undefined
  return items
    .flatMap((item) => (item.type === 'operator' || item.type === 'filter' || item.negated ? [] : [item.text]))
    .join(' ')
}

type Item = Exclude<QueryItem, { type: 'operator' | 'filter' }>
type Alternatives = { queries: Query[]; items: Item[] }

function toPart({ queries, items }: Alternatives): QueryPart {
  const [item, ...others] = items
  const query = joinWords('or', queries)
  if (item === undefined || others.length > 0) return { query }
  return isPlain(item) ? { query, word: { text: item.text, at: item.at } } : { query, quoted: item.text }
}

/** Makes insignificant words optional if there are others; pages that have them score higher. */
function withoutIdle(parts: readonly QueryPart[], analyser: Analyser): QueryPart[] {
  const isIdle = ({ word }: QueryPart) => word !== undefined && analyser.isIdle(foldWord(word.text) || word.text)
  const [first, ...others] = parts.filter((part) => !isIdle(part))
  if (first === undefined) return [...parts]
  const bonuses = parts.filter(isIdle).flatMap(({ query }) => leavesOf(query))
  const query = joinWords('or', [first.query, ...bonuses.map((leaf): Query => ({ ...leaf, isBonus: true }))])
  return [bonuses.length === 0 ? first : { ...first, query }, ...others]
}

/** Returns a query with its exclusions. */
export function wholeQuery({ required, excluded }: ParsedQuery): Query {
  return joinWords('and', [
    ...required.map(({ query }) => query),
    ...excluded.map((query): Query => ({ type: 'not', query })),
  ])
}

function queryOfItem({ type, text }: Item, analyser: Analyser): Query | undefined {
  return type === 'phrase' ? phraseQuery(text, analyser) : wordQuery(text, analyser)
}

/** Weight of a word that begins with the typed one, compared with the typed word. */
const completedWeight = 0.5

/** Returns a query for a word or its completions. */
function openQuery(word: string, analyser: Analyser): Query | undefined {
  const [query, completed] = [wordQuery(word, analyser), wordQuery(`${word}*`, analyser)]
  const parts = [query, completed && weighted(completed, completedWeight)].filter((part) => part !== undefined)
  return parts.length === 0 ? undefined : joinWords('or', parts)
}

const lettersAtEnd = /[\p{L}\p{N}]\p{M}*[\p{L}\p{N}]\p{M}*$/u

function mayGoOn(item: Item): boolean {
  return isPlain(item) && lettersAtEnd.test(item.text) && !isUnspaced(item.text.slice(-1))
}

/** Returns queries for a word joined with the word before it and with the word after it. */
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

/** Checks the limits of a query. @param words typed words of the previous parts; the words of this part are added */
function checkLimits(part: Query, words: Set<string>): void {
  for (const leaf of everyLeafOf(part)) {
    for (const word of leaf.type === 'phrase' ? leaf.text.split(' ') : [leaf.text]) words.add(word)
    if (leaf.type === 'prefix' && !isUnspaced(leaf.prefix) && [...leaf.prefix].length < minPrefix) {
      throw new QueryError(`A prefix has at least ${minPrefix} characters before the asterisk.`)
    }
  }
  if (words.size > maxWords) throw new QueryError(`A query has at most ${maxWords} different words.`)
}

/** Bonus weights: a word is in a name as typed; the whole name was typed; the name begins with what was typed. */
const weights = { word: 0.3, whole: 1.5, beginning: 0.75 }

/**
 * Adds bonuses to a query without changing which pages match: pages with its words in their names as typed score higher, and
 * pages with exactly this name highest.
 */
export function withNames(parsed: ParsedQuery, analyser: Analyser): ParsedQuery {
  const required = parsed.required.map((part): QueryPart => {
    const name = ofWord(part, analyser)
    return name === undefined ? part : { ...part, query: joinWords('or', [part.query, name]) }
  })
  const { name, isOpen } = parsed
  return name === undefined ? { ...parsed, required } : withWholeName({ ...parsed, required }, name, isOpen, analyser)
}

/** Adds a bonus for pages with this name. @param isOpen also for names that begin so */
export function withWholeName(parsed: ParsedQuery, name: string, isOpen: boolean, analyser: Analyser): ParsedQuery {
  const [first, ...others] = parsed.required
  const whole = wholeName(name, analyser)
  if (first === undefined || whole === undefined) return parsed
  const text = first.word?.text ?? name
  const names: Query[] = [{ type: 'term', term: whole, text, weight: weights.whole, isBonus: true }]
  if (isOpen) names.push({ type: 'prefix', prefix: whole, text, weight: weights.beginning, isBonus: true })
  return { ...parsed, required: [{ ...first, query: joinWords('or', [first.query, ...names]) }, ...others] }
}

/** Returns a leaf for a word of a name as written. @param word folded */
export function nameLeaf(word: string, text: string, type: 'term' | 'prefix' = 'term'): Leaf {
  const name = nameWord(word)
  return {
    ...(type === 'term' ? { type, term: name } : { type, prefix: name }),
    text,
    weight: weights.word,
    isBonus: true,
  }
}

function ofWord({ word }: QueryPart, analyser: Analyser): Leaf | undefined {
  if (word === undefined) return undefined
  const [token, ...others] = analyser.tokens(word.text)
  if (token === undefined || others.length > 0) return undefined
  const written = foldWord(word.text.slice(token.start, token.end))
  return isUnspaced(written) ? undefined : nameLeaf(written, word.text)
}
