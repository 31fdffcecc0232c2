import type { Catalog } from '../index/catalog.ts'
import type { Leaf, Query } from '../query/query-tree.ts'
import { end, indexFrom, type PostingList } from './posting-list.ts'

const none = new Uint32Array()

/** Postings of each leaf, and the catalog. */
export type Matched = { lists: ReadonlyMap<Leaf, PostingList>; catalog: Catalog }

/** Minimum postings per candidate for which seeking each candidate is faster than scanning the postings. */
const postingsPassedOver = 16

/**
 * Returns the pages that a query matches, by ascending id, restricted to candidates if given. Removed and hidden
 * pages may be among them.
 */
export function matchPages(query: Query, matched: Matched, candidates?: Uint32Array): Uint32Array {
  if (query.type === 'not') return none
  if (query.type === 'or') {
    return query.queries.map((part) => matchPages(part, matched, candidates)).reduce(union, none)
  }
  if (query.type === 'and') {
    const wanted = query.queries.filter(({ type }) => type !== 'not')
    const unwanted = query.queries.flatMap((part) => (part.type === 'not' ? [part.query] : []))
    const fewestFirst = wanted.toSorted((a, b) => mostMatches(a, matched) - mostMatches(b, matched))
    let pages = candidates
    for (const part of fewestFirst) pages = matchPages(part, matched, pages)
    for (const part of unwanted) pages = difference(pages ?? none, matchPages(part, matched, pages))
    return pages ?? none
  }
  const list = matched.lists.get(query)
  if (list === undefined) return none
  const { pagesOfChunks } = matched.catalog
  if (candidates === undefined) return list.pages(pagesOfChunks)
  const isRare = candidates.length * postingsPassedOver < list.count
  return isRare ? holding(list, candidates, matched) : intersection(list.pages(pagesOfChunks), candidates)
}

/** Returns an upper bound of the number of chunks that a query matches. */
function mostMatches(query: Query, matched: Matched): number {
  if (query.type === 'not') return 0
  if (query.type === 'and') {
    const wanted = query.queries.filter(({ type }) => type !== 'not')
    return Math.min(...wanted.map((part) => mostMatches(part, matched)))
  }
  if (query.type === 'or') return query.queries.reduce((sum, part) => sum + mostMatches(part, matched), 0)
  return matched.lists.get(query)?.count ?? 0
}

function holding(list: PostingList, candidates: Uint32Array, { catalog }: Matched): Uint32Array {
  const pages = new Uint32Array(candidates.length)
  const { pagesOfChunks, firstChunks } = catalog
  let count = 0
  let at = 0
  for (let index = 0; index < candidates.length; index++) {
    const page = candidates[index] ?? 0
    at = indexFrom(list, firstChunks[page] ?? 0, at)
    if (at === list.count) break
    if (pagesOfChunks[list.chunks[at] ?? 0] === page) pages[count++] = page
  }
  return pages.subarray(0, count)
}

function intersection(one: Uint32Array, other: Uint32Array): Uint32Array {
  const both = new Uint32Array(Math.min(one.length, other.length))
  let [a, b, count] = [0, 0, 0]
  while (a < one.length && b < other.length) {
    const [left, right] = [one[a] ?? end, other[b] ?? end]
    if (left === right) both[count++] = left
    if (left <= right) a++
    if (right <= left) b++
  }
  return both.subarray(0, count)
}

export function union(one: Uint32Array, other: Uint32Array): Uint32Array {
  if (one.length === 0) return other
  if (other.length === 0) return one
  const all = new Uint32Array(one.length + other.length)
  let [a, b, count] = [0, 0, 0]
  while (a < one.length || b < other.length) {
    const [left, right] = [one[a] ?? end, other[b] ?? end]
    all[count++] = Math.min(left, right)
    if (left <= right) a++
    if (right <= left) b++
  }
  return all.subarray(0, count)
}

function difference(one: Uint32Array, other: Uint32Array): Uint32Array {
  let next = 0
  return one.filter((page) => {
    while ((other[next] ?? end) < page) next++
    return other[next] !== page
  })
}
