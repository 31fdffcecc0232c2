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

/** A query beyond the limits; the message is for who typed it. */
export class QueryError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'QueryError'
  }
}
