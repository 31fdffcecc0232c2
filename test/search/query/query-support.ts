import { parseQuery, wholeQuery } from '../../../src/search/query/parse-query.ts'
import type { Query } from '../../../src/search/query/query-tree.ts'
import { analyserFor } from '../../../src/search/text/analyser.ts'

/** Parses a query. */
export function queryOf(q: string, language = 'en'): Query | undefined {
  const parsed = parseQuery(q, analyserFor(language))
  return parsed && wholeQuery(parsed)
}

/** A query as it is read: `&`, `|` and `!` for and, or and not; phrases in quotes, prefixes with an asterisk. */
export function read(q: string, language = 'en'): string | undefined {
  const query = queryOf(q, language)
  return query && written(query)
}

export function written(query: Query): string {
  if (query.type === 'term') return query.isBonus ? `${query.term}+` : query.term
  if (query.type === 'prefix') return `${query.prefix}*`
  if (query.type === 'phrase') return `"${query.terms.join(' ')}"`
  if (query.type === 'not') return `!${written(query.query)}`
  return `(${query.queries.map(written).join(query.type === 'and' ? ' & ' : ' | ')})`
}

/** True if an index of one text finds it with a query. */
export function finds(q: string, text: string, language = 'en'): boolean {
  const tokens = analyserFor(language).tokens(text)
  const terms = tokens.flatMap(({ term, also }) => [term, ...also])
  const matches = (query: Query): boolean => {
    if ('isBonus' in query) return false
    if (query.type === 'term') return terms.includes(query.term)
    if (query.type === 'prefix') return terms.some((term) => term.startsWith(query.prefix))
    if (query.type === 'phrase') {
      return tokens.some((_, start) => query.terms.every((term, offset) => tokens[start + offset]?.term === term))
    }
    if (query.type === 'not') return !matches(query.query)
    return query.type === 'and' ? query.queries.every(matches) : query.queries.some(matches)
  }
  const query = queryOf(q, language)
  return query !== undefined && matches(query)
}
