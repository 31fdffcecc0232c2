import { highlight } from '../excerpt/highlight.ts'
import { pageExcerpt } from '../excerpt/page-excerpt.ts'
import type { Catalog } from '../index/catalog.ts'
import type { Deadline } from '../index/deadline.ts'
import type { IndexStore } from '../index/index-store.ts'
import type { TermEngine } from '../index/term-engine.ts'
import { type ParsedQuery, wholeQuery } from '../query/parse-query.ts'
import { leavesOf } from '../query/query-tree.ts'
import type { PageHits, Scope } from '../search-index.ts'
import type { Analyser } from '../text/analyser.ts'
import { facetsOf } from './facets.ts'
import { pagesForAnswer } from './find-pages.ts'
import { notedPages } from './noted-pages.ts'

type Parts = { analyser: Analyser; engine: TermEngine; store: IndexStore; catalog: Catalog }

/**
 * Returns the pages that a query matches, best first, each with an excerpt; behind them those that only a shared note matches.
 * @throws {SearchTimeout}
 */
export function answerQuery(
  q: string,
  parsed: ParsedQuery,
  parts: Parts,
  { scope, hasFacets, deadline }: { scope: Scope; hasFacets: boolean; deadline: Deadline },
): PageHits {
  const { analyser, catalog } = parts
  const { limit, offset = 0 } = scope
  const visible = catalog.visible(scope)
  const among = parsed.filters.length === 0 ? visible.pages : catalog.passing(parsed.filters, visible)
  const within = { visible, among, limit: offset + limit, deadline }
  const { pages, total, matching, matched, suggestion } = pagesForAnswer(q, parsed, parts, within)
  const found = pages.slice(offset).map(({ found, leaves, rank }) => ({
    key: catalog.keyOf(found.page),
    highlight: pageExcerpt(found, leaves, parts),
    rank,
  }))
  const query = wholeQuery(parsed)
  const leaves = leavesOf(query)
  const noted = parsed.required.length === 0 ? [] : notedPages(query, catalog, { among, matching, deadline })
  const skipped = Math.max(0, offset - pages.length)
  const shown = noted.slice(skipped, skipped + limit - found.length).map(({ page, note }) => ({
    key: catalog.keyOf(page),
    highlight: highlight(note, leaves, analyser),
    rank: (pages.at(-1)?.rank ?? 2) / 2,
  }))
  return {
    hits: [...found, ...shown],
    total: total + noted.length,
    matched,
    ...(suggestion === undefined ? {} : { suggestion }),
    ...(hasFacets ? { facets: facetsOf(withPages(matching(), noted), catalog) } : {}),
  }
}

function withPages(pages: Uint8Array, others: readonly { page: number }[]): Uint8Array {
  const all = pages.slice()
  for (const { page } of others) all[page] = 1
  return all
}
