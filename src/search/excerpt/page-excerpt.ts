import type { Catalog } from '../index/catalog.ts'
import type { IndexStore } from '../index/index-store.ts'
import type { Leaf } from '../query/query.ts'
import type { ScoredChunk } from '../rank/scorer.ts'
import type { Analyser } from '../text/analyser.ts'
import { highlight, highlightMatches } from './highlight.ts'
import { storedMatches } from './stored-matches.ts'

/** Chunks of a page in which the words are looked for, to show them. */
const maxExcerpts = 10

/**
 * Returns what a page shows of itself, as highlighted HTML: the text around the words in its best chunk, else in another chunk,
 * else a heading or the title.
 */
export function pageExcerpt(
  { page, chunk: best }: ScoredChunk,
  leaves: readonly Leaf[],
  { store, catalog, analyser }: { store: IndexStore; catalog: Catalog; analyser: Analyser },
): string {
  let first: string | undefined
  const others = catalog.chunksOf(page).filter((id) => id !== best)
  for (const chunk of [best, ...others].slice(0, maxExcerpts)) {
    const places = store.termPlaces(chunk)
    // An analysis would take far longer than what was kept of the one before.
    const excerpt = highlightMatches(places.text, storedMatches(places, leaves))
    if (isMarked(excerpt)) return excerpt
    first ??= excerpt
  }
  const { text, headings } = store.chunk(best)
  const excerpts = [text, headings.join(' > '), store.title(page)].map((shown) => highlight(shown, leaves, analyser))
  return excerpts.find(isMarked) ?? first ?? ''
}

function isMarked(html: string): boolean {
  return html.includes('<mark>')
}
