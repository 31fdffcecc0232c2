import type { Catalog, Visible } from '../index/catalog.ts'
import type { Deadline } from '../index/deadline.ts'
import type { PageMatches, ScoredChunk, TermEngine } from '../index/term-engine.ts'
import { everyLeafOf, isAnyOf, type Leaf, leavesOf, type Query, withoutBonus } from '../query/query-tree.ts'
import type { QuestionTerm } from '../query/query-words.ts'
import { matchPages } from './match-pages.ts'
import type { PostingList } from './posting-list.ts'
import { idf, TopChunks } from './scores.ts'
import { type WeightedList, WindowScorer } from './window-scorer.ts'

/** Part of an index with complete pages and postings of its own. `windows`: see `windowsOf`. */
export type IndexPart = { windows: Uint32Array }

/** Postings of a leaf or term, by part of the index, and its numbers of visible chunks and pages. */
export type Found<Part> = { lists: Map<Part, PostingList>; chunkCount: number; pageCount: number }

/**
 * Matches and ranks the postings that an engine finds. Statistics are those of the visible pages, so that hidden ones count
 * nowhere.
 */
export abstract class PostingEngine<Part extends IndexPart>
  implements Pick<TermEngine, 'search' | 'retrieve' | 'chunksWith'>
{
  protected readonly catalog: Catalog
  readonly #scorer: WindowScorer

  constructor(catalog: Catalog) {
    this.catalog = catalog
    this.#scorer = new WindowScorer(catalog)
  }

  protected abstract get parts(): readonly Part[]
  protected abstract ofTerm(term: string, visible: Visible, deadline: Deadline): Found<Part>
  protected abstract ofPrefix(prefix: string, visible: Visible, deadline: Deadline): Found<Part>
  protected abstract ofPhrase(terms: readonly string[], visible: Visible, deadline: Deadline): Found<Part>
  abstract chunksWith(term: string, visible: Visible): number

  search(query: Query, visible: Visible, limit: number, deadline: Deadline, allowedPages = visible.pages): PageMatches {
    const found = new Map(everyLeafOf(query).map((leaf) => [leaf, this.#ofLeaf(leaf, visible, deadline)]))
    const scoring = leavesOf(query).flatMap((leaf) => pairs(leaf, found.get(leaf)))
    const deciding = withoutBonus(query)
    const [only, ...others] = everyLeafOf(deciding)
    const matched = new Map<Part, Uint32Array>()
    const match = (part: Part) => {
      deadline.check()
      const lists = new Map([...found].flatMap(([leaf, { lists: all }]) => pairs(leaf, all.get(part))))
      return passing(matchPages(deciding, { lists, catalog: this.catalog }), allowedPages)
    }
    const pagesIn = (part: Part) => matched.getOrInsertComputed(part, match)
    // True if every page that scores matches.
    const isAnyScored =
      isAnyOf(deciding) && scoring.every(([leaf], index) => leaf.isBonus || !scoring[index - 1]?.[0].isBonus)
    const weighted = scoring.map(([{ weight = 1, isBonus = false }, ofLeaf]) => {
      return { ...ofLeaf, weight, isBonus: isBonus && isAnyScored }
    })
    const top = new TopChunks(limit, this.catalog)
    const { parts } = this
    for (const part of parts) {
      const lists = weigh(weighted, part, visible)
      const scored = { lists, windows: part.windows, allowedPages, ...(isAnyScored ? {} : { pages: pagesIn(part) }) }
      this.#scorer.score(scored, 'page', visible, top, deadline)
    }
    const counted =
      only !== undefined && others.length === 0 && allowedPages === visible.pages ? found.get(only) : undefined
    return {
      pages: top.best(),
      total: counted?.pageCount ?? parts.reduce((sum, part) => sum + pagesIn(part).length, 0),
      matching: () => marked(parts.map(pagesIn), visible.pages.length),
    }
  }

  retrieve(
    terms: readonly QuestionTerm[],
    visible: Visible,
    limit: number,
    deadline: Deadline,
    allowedPages = visible.pages,
  ): ScoredChunk[] {
    const scoring = terms.map(({ term, weight }) => ({ ...this.ofTerm(term, visible, deadline), weight }))
    const top = new TopChunks(limit, this.catalog)
    for (const part of this.parts) {
      const scored = { lists: weigh(scoring, part, visible), windows: part.windows, allowedPages }
      this.#scorer.score(scored, 'chunk', visible, top, deadline)
    }
    return top.best()
  }

  /** Computes postings for each part of the index, and counts them. */
  protected computed(compute: (part: Part) => PostingList | undefined): Found<Part> {
    const { pagesOfChunks } = this.catalog
    const found: Found<Part> = { lists: new Map(), chunkCount: 0, pageCount: 0 }
    for (const part of this.parts) {
      const list = compute(part)
      if (list === undefined || list.count === 0) continue
      found.lists.set(part, list)
      found.chunkCount += list.count
      found.pageCount += list.pages(pagesOfChunks).length
    }
    return found
  }

  /** Returns terms with their numbers of visible chunks, without those that have none. */
  protected counted(terms: Iterable<string>, visible: Visible): [term: string, chunkCount: number][] {
    return Array.from(terms, (term): [string, number] => [term, this.chunksWith(term, visible)]).filter(
      ([, chunkCount]) => chunkCount > 0,
    )
  }

  #ofLeaf(leaf: Leaf, visible: Visible, deadline: Deadline): Found<Part> {
    deadline.check()
    if (leaf.type === 'term') return this.ofTerm(leaf.term, visible, deadline)
    if (leaf.type === 'phrase') return this.ofPhrase(leaf.terms, visible, deadline)
    return this.ofPrefix(leaf.prefix, visible, deadline)
  }
}

/** Returns the entry of a map as a list, which is empty for an undefined value. */
export function pairs<Key, Value>(key: Key, value: Value | undefined): [Key, Value][] {
  return value === undefined ? [] : [[key, value]]
}

/** Returns the lists of a part with their weights. */
function weigh<Part>(
  found: readonly (Found<Part> & { weight: number; isBonus?: boolean })[],
  part: Part,
  visible: Visible,
): WeightedList[] {
  return found.flatMap(({ lists, chunkCount, pageCount, weight, isBonus = false }) => {
    const list = lists.get(part)
    if (list === undefined || chunkCount === 0) return []
    const chunkWeight = weight * idf(chunkCount, visible.chunkCount)
    return [{ list, chunkWeight, pageWeight: weight * idf(pageCount, visible.pageCount), isBonus }]
  })
}

/** Returns the pages that may be found. @param allowedPages 1 for each page that may be, by id */
function passing(pages: Uint32Array, allowedPages: Uint8Array): Uint32Array {
  let count = 0
  const passed = new Uint32Array(pages.length)
  for (const page of pages) if (allowedPages[page] === 1) passed[count++] = page
  return passed.subarray(0, count)
}

/** Marks pages with 1, by id. */
function marked(pages: readonly Uint32Array[], length: number): Uint8Array {
  const marks = new Uint8Array(length)
  for (const some of pages) for (const page of some) marks[page] = 1
  return marks
}
