import type { Analyser } from '../text/analyser.ts'
import type { QueryItem } from './filters.ts'
import { type Query, weighted } from './query-tree.ts'
import { joinWords, literalOf, phraseQuery, type QuestionTerm, questionTerms } from './query-words.ts'

/** Weight of a synonym, compared with the typed word. */
const weight = 0.7
/** Maximum synonyms of one word or phrase. */
const maxAlternatives = 20

/** Maximum synonyms of a question's terms. */
const maxTerms = 64

/** Groups of synonymous words and phrases, analysed once. */
export class Synonyms {
  /** Synonyms by their terms, joined with spaces. */
  readonly #alternatives = new Map<string, Alternative[]>()
  /** Number of words of the longest phrase. */
  #maxWords = 0

  constructor(groups: readonly (readonly string[])[], analyser: Analyser) {
    for (const group of groups) {
      const members = group.map((text) => {
        const terms = questionTerms(text, analyser)
        const share = weight / terms.length
        return {
          key: termsOf(text, analyser),
          query: phraseQuery(text, analyser),
          terms: terms.map((one) => ({ term: one.term, weight: share * one.weight })),
        }
      })
      for (const { key } of members) {
        if (key === '') continue
        const others = members.flatMap((other) =>
          other.key === key || other.query === undefined ? [] : [{ ...other, query: other.query }],
        )
        const all = [...(this.#alternatives.get(key) ?? []), ...others].slice(0, maxAlternatives)
        this.#alternatives.set(key, all)
        this.#maxWords = Math.max(this.#maxWords, key.split(' ').length)
      }
    }
  }

  /** Returns queries for the synonyms of each item: of the word alone, and of phrases that it is part of. */
  ofItems(items: readonly QueryItem[], analyser: Analyser): Query[][] {
    const found = items.map((): Query[] => [])
    if (this.#maxWords === 0) return found
    const terms = items.map((item) => (item.type === 'word' && !item.negated ? termsOf(item.text, analyser) : ''))
    for (const { start, end, alternatives } of this.#within(terms)) {
      const typed = items.slice(start, end).map((item) => ('text' in item ? item.text : ''))
      const synonyms = alternatives.map(({ query }) => as(literalOf(typed.join(' ')), weighted(query, weight)))
      for (let at = start; at < end; at++) found[at]?.push(joinWords('or', synonyms))
    }
    return found
  }

  /** Returns the terms of synonyms of words and phrases in a question. */
  ofQuestion(question: string, analyser: Analyser): QuestionTerm[] {
    const terms = analyser.tokens(question).map(({ term }) => term)
    const found = this.#within(terms).flatMap(({ alternatives }) => alternatives.flatMap((one) => one.terms))
    return found.slice(0, maxTerms)
  }

  /** Finds runs of terms with synonyms. An empty term ends a run. */
  #within(terms: readonly string[]): { start: number; end: number; alternatives: readonly Alternative[] }[] {
    return terms.flatMap((_, start) => {
      const gap = terms.indexOf('', start)
      const last = Math.min(gap < 0 ? terms.length : gap, start + this.#maxWords)
      const ends = Array.from({ length: Math.max(0, last - start) }, (_, length) => start + length + 1)
      return ends.flatMap((end) => {
        const alternatives = this.#alternatives.get(terms.slice(start, end).join(' '))
        return alternatives === undefined ? [] : [{ start, end, alternatives }]
      })
    })
  }
}

/** A synonym as a query, and as terms of a question. */
type Alternative = { query: Query; terms: readonly QuestionTerm[] }

function termsOf(text: string, analyser: Analyser): string {
  return analyser
    .tokens(text)
    .map(({ term }) => term)
    .join(' ')
}

/** Replaces the typed text of a query's leaves. */
function as(text: string, query: Query): Query {
  if (query.type === 'not') return query
  if (query.type !== 'and' && query.type !== 'or') return { ...query, text }
  return { ...query, queries: query.queries.map((part) => as(text, part)) }
}
