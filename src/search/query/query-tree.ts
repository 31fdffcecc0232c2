export type Leaf = (
  | { type: 'term'; term: string }
  /** Folded, unstemmed prefix of at least 2 characters, or 1 in scripts without spaces. */
  | { type: 'prefix'; prefix: string }
  /** At least 2 terms at consecutive positions. */
  | { type: 'phrase'; terms: readonly string[] }
) & {
  /** Typed text of the leaf. */
  text: string
  /** Weight of a match, 1 if absent. */
  weight?: number
  /** True if the leaf only adds to the score of pages that match otherwise. */
  isBonus?: true
}

export type Query =
  | Leaf
  | { type: 'and'; queries: readonly Query[] }
  | { type: 'or'; queries: readonly Query[] }
  /** Negation, which occurs only in an `and` with other parts. */
  | { type: 'not'; query: Query }

/** Returns all leaves that are not negated. */
export function leavesOf(query: Query): Leaf[] {
  return query.type === 'not' ? [] : partsOf(query, leavesOf)
}

export function everyLeafOf(query: Query): Leaf[] {
  return query.type === 'not' ? everyLeafOf(query.query) : partsOf(query, everyLeafOf)
}

/** True if any leaf alone makes a page match. */
export function isAnyOf(query: Query): boolean {
  if (query.type === 'and' || query.type === 'not') return false
  return query.type !== 'or' || query.queries.every(isAnyOf)
}

/** Returns the query without its bonus leaves, which do not decide whether a page matches. */
export function withoutBonus(query: Query): Query {
  if (query.type !== 'and' && query.type !== 'or') return query
  const queries = query.queries.filter((part) => !('isBonus' in part)).map(withoutBonus)
  const [first] = queries
  return first !== undefined && queries.length === 1 ? first : { ...query, queries }
}

/** Returns the query with its weights multiplied by a factor. */
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

/** Thrown for a query beyond the limits. The message is for the person who typed it. */
export class QueryError extends Error {}
