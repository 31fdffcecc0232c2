import type { Catalog } from '../index/catalog.ts'
import type { Leaf, Query } from '../query/query.ts'
import { end, PostingCursor, type PostingList } from './posting-list.ts'

/** What is read to match the pages of a segment: the postings of each leaf, and 1 for each page that may match, by id. */
export type Matched = { lists: ReadonlyMap<Leaf, PostingList>; among: Uint8Array; catalog: Catalog }

/** The pages of a segment that a query matches, by ascending id; of those that are given, where some are. */
export function matchPages(query: Query, matched: Matched, candidates?: Uint32Array): Uint32Array {
  if (query.type === 'not') return new Uint32Array()
  if (query.type === 'or') {
    return query.queries
      .map((part) => matchPages(part, matched, candidates))
      .reduce((all, pages) => union(all, pages), new Uint32Array())
  }
  if (query.type === 'and') {
    const wanted = query.queries.filter(({ type }) => type !== 'not')
    const unwanted = query.queries.flatMap((part) => (part.type === 'not' ? [part.query] : []))
    const fewestFirst = wanted.toSorted((a, b) => mostMatches(a, matched) - mostMatches(b, matched))
    let pages = candidates
    for (const part of fewestFirst) pages = matchPages(part, matched, pages)
    for (const part of unwanted) pages = difference(pages ?? new Uint32Array(), matchPages(part, matched, pages))
    return pages ?? new Uint32Array()
  }
  const list = matched.lists.get(query)
  if (list === undefined) return new Uint32Array()
  return candidates === undefined ? pagesOf(list, matched) : holding(list, candidates, matched)
}

/** How many chunks a query can match at most. */
function mostMatches(query: Query, matched: Matched): number {
  if (query.type === 'not') return 0
  if (query.type === 'and') {
    const wanted = query.queries.filter(({ type }) => type !== 'not')
    return Math.min(...wanted.map((part) => mostMatches(part, matched)))
  }
  if (query.type === 'or') return query.queries.reduce((sum, part) => sum + mostMatches(part, matched), 0)
  return matched.lists.get(query)?.count ?? 0
}

function pagesOf(list: PostingList, { among, catalog }: Matched): Uint32Array {
  const pages = new Uint32Array(list.count)
  const { pagesOfChunks } = catalog
  let count = 0
  let last = 0
  for (const cursor = new PostingCursor(list); cursor.chunk !== end; cursor.next()) {
    const page = pagesOfChunks[cursor.chunk] ?? 0
    if (page === last || among[page] !== 1) continue
    pages[count++] = page
    last = page
  }
  return pages.subarray(0, count)
}

function holding(list: PostingList, candidates: Uint32Array, { catalog }: Matched): Uint32Array {
  const pages = new Uint32Array(candidates.length)
  const { pagesOfChunks, firstChunks } = catalog
  const cursor = new PostingCursor(list)
  let count = 0
  for (let index = 0; index < candidates.length; index++) {
    const page = candidates[index] ?? 0
    const first = firstChunks[page] ?? 0
    if (cursor.chunk < first) cursor.seek(first)
    if (cursor.chunk === end) break
    if (pagesOfChunks[cursor.chunk] === page) pages[count++] = page
  }
  return pages.subarray(0, count)
}

function union(one: Uint32Array, other: Uint32Array): Uint32Array {
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
