import { highlight } from '../excerpt/highlight.ts'
import type { Catalog } from '../index/catalog.ts'
import type { IndexStore } from '../index/index-store.ts'
import type { Nearness } from '../rank/fuse.ts'
import { beyondChance } from '../rank/fuse.ts'
import type { PageHit } from '../search-index.ts'
import type { Analyser } from '../text/analyser.ts'

/** Pages that an answer by meaning has at most: the further ones are of other things. */
const maxPages = 10
const maxChunks = 50

/** The pages that are near a query by meaning, best first, each with the beginning of its nearest chunk. */
export function nearPages(
  nearness: Nearness,
  limit: number,
  { analyser, store, catalog }: { analyser: Analyser; store: IndexStore; catalog: Catalog },
): PageHit[] {
  const near = beyondChance(nearness.nearest(maxChunks), nearness.count)
  const pages = new Map<number, PageHit>()
  for (const { chunk, page, score } of near) {
    if (pages.size === Math.min(limit, maxPages)) break
    if (pages.has(page)) continue
    const excerpt = highlight(store.chunks.chunk(chunk).text, [], analyser)
    pages.set(page, { key: catalog.keyOf(page), highlight: excerpt, rank: score / (near[0]?.score ?? 1) })
  }
  return [...pages.values()]
}
