import type { Catalog } from '../index/catalog.ts'
import type { Deadline } from '../index/deadline.ts'
import type { IndexStore } from '../index/index-store.ts'
import type { StoredPage } from '../index/store-tables.ts'
import type { PageMatches, ScoredChunk, TermChunk, TermEngine } from '../index/term-engine.ts'
import type { Visible } from '../index/visible.ts'
import { everyLeafOf, isAnyOf, type Leaf, leavesOf, type Query, withoutBonus } from '../query/query-tree.ts'
import type { QuestionTerm } from '../query/question.ts'
import { idf } from '../rank/scorer.ts'
import { AnyPostings } from './any-postings.ts'
import type { InvertedPage } from './invert.ts'
import { LaidOverSegments } from './laid-over-segments.ts'
import { matchPages } from './postings/match-pages.ts'
import { PositionCursor, phrasePostings } from './postings/phrase-postings.ts'
import { type ComputedPostings, type PostingList, postingsOf } from './postings/posting-list.ts'
import { TopChunks } from './postings/top-chunks.ts'
import { type WeightedList, WindowScorer } from './postings/window-scorer.ts'
import { SegmentFiles } from './segment-files.ts'
import type { OpenSegment, Segments } from './segment-log.ts'
import { addEnding, addSimilar, type PrefixTerm, pairs, TermDirectory } from './term-directory.ts'

/** Postings of a leaf or term, by segment, and its numbers of visible chunks and pages. */
type Found = { lists: Map<OpenSegment, PostingList>; chunkCount: number; pageCount: number }

/** Maximum chunks to invert at once. */
const maxPending = 1024

/** Engine of large knowledge bases: postings in immutable segments on disk. */
export class SegmentEngine implements TermEngine {
  readonly #catalog: Catalog
  readonly #store: IndexStore
  readonly #log: Segments
  readonly #directory: TermDirectory
  readonly #scorer: WindowScorer
  readonly #anyPostings = new AnyPostings()
  /** Additions that are in no segment yet: terms by chunk id, and ids of complete pages. */
  readonly #terms = new Map<number, string>()
  readonly #added = new Set<number>()

  constructor(catalog: Catalog, store: IndexStore, log: Segments) {
    this.#catalog = catalog
    this.#store = store
    this.#log = log
    this.#directory = new TermDirectory(this.#log.removedTerms, () => this.#segments)
    this.#scorer = new WindowScorer(catalog)
  }

  over(catalog: Catalog, store: IndexStore): SegmentEngine {
    const { removedTerms } = this.#log
    const below = { segments: () => this.#segments, removedTerms, store: this.#store }
    return new SegmentEngine(catalog, store, new LaidOverSegments(below, catalog))
  }

  /** Discards all segments when another engine takes over. Within a transaction. */
  static drop(store: IndexStore, directory: string): void {
    store.db.exec('DELETE FROM segments')
    SegmentFiles.remove(directory)
  }

  readonly termsInMemory = 0

  addChunks(chunks: readonly TermChunk[]): void {
    for (const { id, terms } of chunks) this.#terms.set(id, terms)
  }

  /** Removes chunks not yet in a segment. Those in a segment are removed with their page. */
  removeChunks({ firstChunk, lengths }: StoredPage, count: number): void {
    const end = firstChunk + lengths.length
    for (let id = end - count; id < end; id++) this.#terms.delete(id)
  }

  addPage(id: number): void {
    this.#added.add(id)
  }

  removePage(page: StoredPage): void {
    if (!this.#added.delete(page.id)) this.#log.remove(page)
  }

  /** Inverts additions only if there are many, or when they are searched: inverting many texts at once takes less time for each. */
  commit(): void {
    if (this.#terms.size >= maxPending) this.#invert()
  }

  work(until: number): boolean {
    return this.#log.work(until)
  }

  search(query: Query, visible: Visible, limit: number, deadline: Deadline, allowedPages = visible.pages): PageMatches {
    const found = new Map(everyLeafOf(query).map((leaf) => [leaf, this.#ofLeaf(leaf, visible, deadline)]))
    const scoring = leavesOf(query).flatMap((leaf) => pairs(leaf, found.get(leaf)))
    const deciding = withoutBonus(query)
    const sought = everyLeafOf(deciding)
    const [only, ...others] = sought
    const matched = new Map<OpenSegment, Uint32Array>()
    const match = (open: OpenSegment) => {
      deadline.check()
      const lists = new Map([...found].flatMap(([leaf, { lists: all }]) => pairs(leaf, all.get(open))))
      return passing(matchPages(deciding, { lists, catalog: this.#catalog }), allowedPages)
    }
    const pagesIn = (open: OpenSegment) => matched.getOrInsertComputed(open, match)
    // True if every page that scores matches.
    const isAnyScored =
      isAnyOf(deciding) && scoring.every(([leaf], index) => leaf.isBonus || !scoring[index - 1]?.[0].isBonus)
    const weighted = scoring.map(([{ weight = 1, isBonus = false }, ofLeaf]) => {
      return { ...ofLeaf, weight, isBonus: isBonus && isAnyScored }
    })
    const top = new TopChunks(limit, this.#catalog)
    for (const open of this.#segments) {
      const lists = weigh(weighted, open, visible)
      const scored = { lists, windows: open.windows, allowedPages, ...(isAnyScored ? {} : { pages: pagesIn(open) }) }
      this.#scorer.score(scored, 'page', visible, top, deadline)
    }
    const counted =
      only !== undefined && others.length === 0 && allowedPages === visible.pages ? found.get(only) : undefined
    const segments = this.#segments
    return {
      pages: top.best(),
      total: counted?.pageCount ?? segments.reduce((sum, open) => sum + pagesIn(open).length, 0),
      matching: () => marked(segments.map(pagesIn), visible.pages.length),
    }
  }

  retrieve(
    terms: readonly QuestionTerm[],
    visible: Visible,
    limit: number,
    deadline: Deadline,
    allowedPages = visible.pages,
  ): ScoredChunk[] {
    const scoring = terms.map(({ term, weight }) => ({ ...this.#ofTerm(term, visible), weight }))
    const top = new TopChunks(limit, this.#catalog)
    for (const open of this.#segments) {
      const scored = { lists: weigh(scoring, open, visible), windows: open.windows, allowedPages }
      this.#scorer.score(scored, 'chunk', visible, top, deadline)
    }
    return top.best()
  }

  chunksWith(term: string, visible: Visible): number {
    return this.#directory.countOf(term, visible).chunkCount
  }

  similarTerms(
    word: string,
    maxEdits: number,
    visible: Visible,
    deadline: Deadline,
  ): [term: string, chunkCount: number][] {
    const similar = new Set<string>()
    for (const { segment } of this.#segments) addSimilar(segment, word, maxEdits, similar, deadline)
    return this.#counted(similar, visible)
  }

  termsEnding(ending: string, visible: Visible, deadline: Deadline): [term: string, chunkCount: number][] {
    const found = new Set<string>()
    for (const { segment } of this.#segments) addEnding(segment, ending, found, deadline)
    return this.#counted(found, visible)
  }

  /** Writes additions and segments in memory to a file. Within a transaction. */
  save(): void {
    this.#invert()
    this.#log.save()
  }

  close(): void {
    this.#log.close()
  }

  /** Segments, with additions inverted. */
  get #segments(): readonly OpenSegment[] {
    if (this.#added.size > 0) this.#invert()
    return this.#log.segments
  }

  #invert(): void {
    this.#log.add([...this.#added].sort((a, b) => a - b).map((id) => this.#inverted(id)))
    this.#added.clear()
    this.#terms.clear()
  }

  #inverted(id: number): InvertedPage {
    const { from, to } = this.#catalog.chunkRange(id)
    const isHeld = Array.from({ length: to - from }, (_, index) => from + index).every((chunk) =>
      this.#terms.has(chunk),
    )
    if (!isHeld) return { id, chunks: [...this.#store.termsOf(from, to)] }
    return {
      id,
      chunks: this.#catalog.chunksOf(id).map((chunk) => ({ id: chunk, terms: this.#terms.get(chunk) ?? '' })),
    }
  }

  /** Returns terms with their numbers of visible chunks, without those that have none. */
  #counted(terms: ReadonlySet<string>, visible: Visible): [term: string, chunkCount: number][] {
    return Array.from(terms, (term): [string, number] => [term, this.chunksWith(term, visible)]).filter(
      ([, chunkCount]) => chunkCount > 0,
    )
  }

  #ofLeaf(leaf: Leaf, visible: Visible, deadline: Deadline): Found {
    deadline.check()
    if (leaf.type === 'term') return this.#ofTerm(leaf.term, visible)
    if (leaf.type === 'phrase') return this.#ofPhrase(leaf.terms, visible, deadline)
    const terms = this.#directory.withPrefix(leaf.prefix, visible, deadline)
    const [only, ...others] = terms
    return only !== undefined && others.length === 0
      ? this.#ofTerm(only.term, visible)
      : this.#ofTerms(terms, visible, deadline)
  }

  #ofTerm(term: string, visible: Visible): Found {
    const entries = this.#directory.entriesOf(term)
    const lists = new Map(Array.from(entries, ([open, entry]) => [open, postingsOf(open.segment, entry)]))
    return { lists, ...this.#directory.countOf(term, visible) }
  }

  #ofTerms(terms: readonly PrefixTerm[], { pages }: Visible, deadline: Deadline): Found {
    const bySegment = Map.groupBy(
      terms.flatMap(({ docs }) => docs),
      ({ owner }) => owner,
    )
    const seen = { pages, pagesOfChunks: this.#catalog.pagesOfChunks }
    return this.#computed((open) => {
      const ofSegment = bySegment.get(open)
      return ofSegment && this.#anyPostings.of(open, ofSegment, seen, deadline)
    })
  }

  #ofPhrase(terms: readonly string[], { pages }: Visible, deadline: Deadline): Found {
    const { pagesOfChunks } = this.#catalog
    const isVisible = (chunk: number) => pages[pagesOfChunks[chunk] ?? 0] === 1
    const entries = terms.map((term) => this.#directory.entriesOf(term))
    return this.#computed((open) => {
      const ofSegment = entries.flatMap((all) => all.get(open) ?? [])
      if (ofSegment.length < terms.length) return undefined
      const cursors = ofSegment.map((entry) => {
        return new PositionCursor(open.segment, entry, postingsOf(open.segment, entry))
      })
      return phrasePostings(cursors, isVisible, deadline)
    })
  }

  /** Computes postings that are not stored, and counts them. */
  #computed(compute: (open: OpenSegment) => ComputedPostings | undefined): Found {
    const { pagesOfChunks } = this.#catalog
    const found: Found = { lists: new Map(), chunkCount: 0, pageCount: 0 }
    for (const open of this.#segments) {
      const list = compute(open)
      if (list === undefined || list.count === 0) continue
      found.lists.set(open, list)
      found.chunkCount += list.count
      found.pageCount += list.pages(pagesOfChunks).length
    }
    return found
  }
}

/** Returns the lists of a segment with their weights. */
function weigh(
  found: readonly (Found & { weight: number; isBonus?: boolean })[],
  open: OpenSegment,
  visible: Visible,
): WeightedList[] {
  return found.flatMap(({ lists, chunkCount, pageCount, weight, isBonus = false }) => {
    const list = lists.get(open)
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
