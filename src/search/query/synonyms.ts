import type { Analyser } from '../text/analyser.ts'
import { type Query, weighted } from './query.ts'
import type { QueryItem } from './query-items.ts'
import { join, literalOf, phraseQuery } from './query-words.ts'

/** What a synonym counts beside the word that was typed. */
const weight = 0.7
/** Synonyms of one word or phrase that are looked for, at most. */
const maxAlternatives = 20

/** Groups of words and phrases that mean the same, analysed once. */
export class Synonyms {
  /** By terms with a space between: what finds the others of their groups. */
  readonly #alternatives = new Map<string, Query[]>()
  /** Words of the longest phrase. */
  #maxWords = 0

  constructor(groups: readonly (readonly string[])[], analyser: Analyser) {
    for (const group of groups) {
      const members = group.map((text) => ({ key: termsOf(text, analyser), query: phraseQuery(text, analyser) }))
      for (const { key } of members) {
        if (key === '') continue
        const others = members.flatMap((other) => (other.key === key ? [] : (other.query ?? [])))
        const all = [...(this.#alternatives.get(key) ?? []), ...others].slice(0, maxAlternatives)
        this.#alternatives.set(key, all)
        this.#maxWords = Math.max(this.#maxWords, key.split(' ').length)
      }
    }
  }

  /** What finds the synonyms of each item of a query: of the word alone, and of phrases of words side by side that it is part of. */
  ofItems(items: readonly QueryItem[], analyser: Analyser): Query[][] {
    const found = items.map((): Query[] => [])
    if (this.#maxWords === 0) return found
    const terms = items.map((item) => (item.type === 'word' && !item.negated ? termsOf(item.text, analyser) : ''))
    for (let start = 0; start < items.length; start++) {
      for (let end = start + 1; end <= Math.min(items.length, start + this.#maxWords); end++) {
        if (terms[end - 1] === '') break
        const alternatives = this.#alternatives.get(terms.slice(start, end).join(' '))
        if (alternatives === undefined) continue
        const typed = items.slice(start, end).map((item) => ('text' in item ? item.text : ''))
        const synonyms = alternatives.map((query) => as(literalOf(typed.join(' ')), weighted(query, weight)))
        for (let at = start; at < end; at++) found[at]?.push(join('or', synonyms))
      }
    }
    return found
  }
}

function termsOf(text: string, analyser: Analyser): string {
  return analyser
    .tokens(text)
    .map(({ term }) => term)
    .join(' ')
}

/** The same query for what was typed. */
function as(text: string, query: Query): Query {
  if (query.type === 'not') return query
  if (query.type !== 'and' && query.type !== 'or') return { ...query, text }
  return { ...query, queries: query.queries.map((part) => as(text, part)) }
}
