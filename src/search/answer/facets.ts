import { tagKey } from '../../rules/neurons/tag.ts'
import type { Catalog } from '../index/catalog.ts'
import type { FacetCount, Facets } from '../search-index.ts'

const maxValues = 50

/** How many of some pages have each tag, kind and folder, the most frequent first. @param pages 1 for each of them, by id. */
export function facetsOf(pages: Uint8Array, catalog: Catalog): Facets {
  const [tags, kinds, folders] = [new Counter(), new Counter(), new Counter()]
  for (let page = 0; page < pages.length; page++) {
    if (pages[page] !== 1) continue
    const facts = catalog.factsOf(page)
    if (facts === undefined) continue
    kinds.add(catalog.kindOf(page))
    folders.add(facts.path.slice(0, Math.max(0, facts.path.lastIndexOf('/'))))
    for (const tag of facts.tags) tags.add(tag, tagKey(tag))
  }
  return { tags: tags.counts(), kinds: kinds.counts(), folders: folders.counts() }
}

class Counter {
  readonly #counts = new Map<string, FacetCount>()

  /** @param key of all its spellings, of which the first in the order of their letters is shown. */
  add(value: string, key = value): void {
    const known = this.#counts.get(key)
    if (known === undefined) this.#counts.set(key, { value, count: 1 })
    else this.#counts.set(key, { value: value < known.value ? value : known.value, count: known.count + 1 })
  }

  counts(): FacetCount[] {
    return [...this.#counts.values()]
      .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
      .slice(0, maxValues)
  }
}
