import type { Catalog } from '../index/catalog.ts'
import type { IndexStore } from '../index/index-store.ts'
import type { TermPlaces } from '../index/page-terms.ts'
import type { ScoredChunk } from '../index/term-engine.ts'
import type { Leaf } from '../query/query-tree.ts'
import type { Analyser } from '../text/analyser.ts'
import { highlight, highlightMatches } from './highlight.ts'
import { mayMatch, storedMatches } from './stored-matches.ts'

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
  const { from, to } = catalog.chunkRange(page)
  // An analysis would take far longer than what was kept of the one before.
  const ofBest = store.chunks.termPlaces(best)
  const first = excerptBy(ofBest, leaves)
  if (isMarked(first)) return first
  for (let chunk = from, left = maxExcerpts - 1; chunk < to && left > 0; chunk++) {
    if (chunk === best) continue
    const excerpt = excerptBy(store.chunks.termPlaces(chunk), leaves)
    if (isMarked(excerpt)) return excerpt
    left--
  }
  const { text, terms, ownAt, textAt } = ofBest
  const shown = [
    () => (mayMatch(ofBest, textAt, terms.length, leaves) ? text : ''),
    () => (mayMatch(ofBest, ownAt, textAt, leaves) ? store.chunks.chunk(best).headings.join(' > ') : ''),
    () => store.title(page),
  ]
  for (const part of shown) {
    const excerpt = highlight(part(), leaves, analyser)
    if (isMarked(excerpt)) return excerpt
  }
  return first
}

function excerptBy(places: TermPlaces, leaves: readonly Leaf[]): string {
  return highlightMatches(places.text, storedMatches(places, leaves))
}

function isMarked(html: string): boolean {
  return html.includes('<mark>')
}
