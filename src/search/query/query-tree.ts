export type Leaf = (
  | { type: 'term'; term: string }
  /** Folded, not stemmed, at least 2 characters; 1 of the scripts without spaces. */
  | { type: 'prefix'; prefix: string }
  /** At least 2 terms at consecutive positions. */
  | { type: 'phrase'; terms: readonly string[] }
) & {
  /** What was typed for it. */
  text: string
  /** What a match counts: 1 without it. */
  weight?: number
  /** Scores the pages that match, and makes none match. */
  isBonus?: true
}

export type Query =
  | Leaf
  | { type: 'and'; queries: readonly Query[] }
  | { type: 'or'; queries: readonly Query[] }
  /** Only in an `and` that has something else. */
  | { type: 'not'; query: Query }

/** What a page may be found by: all leaves but those that are negated. */
export function leavesOf(query: Query): Leaf[] {
  return query.type === 'not' ? [] : partsOf(query, leavesOf)
}

export function everyLeafOf(query: Query): Leaf[] {
  return query.type === 'not' ? everyLeafOf(query.query) : partsOf(query, everyLeafOf)
}

/** Whether each page that any leaf is found in matches. */
export function isAnyOf(query: Query): boolean {
  if (query.type === 'and' || query.type === 'not') return false
  return query.type !== 'or' || query.queries.every(isAnyOf)
}

/** What decides whether a page matches. A query has something besides its bonus. */
export function withoutBonus(query: Query): Query {
  if (query.type !== 'and' && query.type !== 'or') return query
  const queries = query.queries.filter((part) => !('isBonus' in part)).map(withoutBonus)
  const [first] = queries
  return first !== undefined && queries.length === 1 ? first : { ...query, queries }
}

/** The same query, whose matches count less or more. */
export function weighted(query: Query, factor: number): Query {
  if (query.type === 'not') return query
  if (query.type === 'and' || query.type === 'or') {
    return { ...query, queries: query.queries.map((part) => weighted(part, factor)) }
  }
  return { ...query, weight: factor * (query.weight ?? 1) }
}

function partsOf(query: Exclude<Query, { type: 'not' }>, leaves: (query: Query) => Leaf[]): Leaf[] {
  return query.type === 'and' || query.type === 'or' ? query.queries.flatMap(leaves) : [query]
}

/** A query beyond the limits; the message is for who typed it. */
export class QueryError extends Error {}
