import type { Catalog, Visible } from '../index/catalog.ts'
import type { Deadline } from '../index/deadline.ts'
import type { IndexStore } from '../index/index-store.ts'
import type { StoredPage } from '../index/store-tables.ts'
import type { TermChunk, TermEngine } from '../index/term-engine.ts'
import { type Found, PostingEngine } from '../rank/posting-engine.ts'
import { windowsOf } from '../rank/window-scorer.ts'
import { AnyPostings, phrasePostings } from './computed-postings.ts'
import { type InvertedPage, invert } from './invert.ts'
import { SegmentFiles } from './segment-files.ts'
import { type CountedTerms, type OpenSegment, RemovedTerms, type Segments } from './segment-log.ts'
import { addEnding, addSimilar, TermDirectory } from './term-directory.ts'
import { postingsOf, TermPositions } from './term-postings.ts'

/** Maximum chunks to invert at once. */
const maxPending = 1024

/** Engine of large knowledge bases: postings in immutable segments on disk. */
export class SegmentEngine extends PostingEngine<OpenSegment> implements TermEngine {
  readonly #store: IndexStore
  readonly #log: Segments
  readonly #directory: TermDirectory
  readonly #anyPostings = new AnyPostings()
  /** Additions that are in no segment yet: terms by chunk id, and ids of complete pages. */
  readonly #terms = new Map<number, string>()
  readonly #added = new Set<number>()

  constructor(catalog: Catalog, store: IndexStore, log: Segments) {
    super(catalog)
    this.#store = store
    this.#log = log
    this.#directory = new TermDirectory(this.#log.removedTerms, () => this.parts)
  }

  over(catalog: Catalog, store: IndexStore): SegmentEngine {
    const { removedTerms } = this.#log
    const below = { segments: () => this.parts, removedTerms, store: this.#store }
    return new SegmentEngine(catalog, store, new LaidOverSegments(below, catalog))
  }

  /** Discards all segments when another engine takes over. Must run within a transaction. */
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
    for (const { segment } of this.parts) addSimilar(segment, word, maxEdits, similar, deadline)
    return this.counted(similar, visible)
  }

  termsEnding(ending: string, visible: Visible, deadline: Deadline): [term: string, chunkCount: number][] {
    const found = new Set<string>()
    for (const { segment } of this.parts) addEnding(segment, ending, found, deadline)
    return this.counted(found, visible)
  }

  /** Writes additions and segments in memory to a file. Must run within a transaction. */
  save(): void {
    this.#invert()
    this.#log.save()
  }

  close(): void {
    this.#log.close()
  }

  /** Segments, with additions inverted. */
  protected get parts(): readonly OpenSegment[] {
    if (this.#added.size > 0) this.#invert()
    return this.#log.segments
  }

  #invert(): void {
    this.#log.add([...this.#added].sort((a, b) => a - b).map((id) => this.#inverted(id)))
    this.#added.clear()
    this.#terms.clear()
  }

  #inverted(id: number): InvertedPage {
    const { from, to } = this.catalog.chunkRange(id)
    const isHeld = Array.from({ length: to - from }, (_, index) => from + index).every((chunk) =>
      this.#terms.has(chunk),
    )
    if (!isHeld) return { id, chunks: [...this.#store.termsOf(from, to)] }
    return {
      id,
      chunks: this.catalog.chunksOf(id).map((chunk) => ({ id: chunk, terms: this.#terms.get(chunk) ?? '' })),
    }
  }

  protected ofTerm(term: string, visible: Visible): Found<OpenSegment> {
    const entries = this.#directory.entriesOf(term)
    const lists = new Map(Array.from(entries, ([open, entry]) => [open, postingsOf(open.segment, entry)]))
    return { lists, ...this.#directory.countOf(term, visible) }
  }

  protected ofPrefix(prefix: string, visible: Visible, deadline: Deadline): Found<OpenSegment> {
    const terms = this.#directory.withPrefix(prefix, visible, deadline)
    const [only, ...others] = terms
    if (only !== undefined && others.length === 0) return this.ofTerm(only.term, visible)
    const bySegment = Map.groupBy(
      terms.flatMap(({ docs }) => docs),
      ({ owner }) => owner,
    )
    const isVisible = this.#isVisible(visible)
    return this.computed((open) => {
      const ofSegment = bySegment.get(open)
      return ofSegment && this.#anyPostings.of(open, ofSegment, isVisible, deadline)
    })
  }

  protected ofPhrase(terms: readonly string[], visible: Visible, deadline: Deadline): Found<OpenSegment> {
    const isVisible = this.#isVisible(visible)
    const entries = terms.map((term) => this.#directory.entriesOf(term))
    return this.computed((open) => {
      const ofSegment = entries.flatMap((all) => all.get(open) ?? [])
      if (ofSegment.length < terms.length) return undefined
      const positions = ofSegment.map((entry) => new TermPositions(open.segment, entry))
      return phrasePostings(positions, isVisible, deadline)
    })
  }

  #isVisible({ pages }: Visible): (chunk: number) => boolean {
    const { pagesOfChunks } = this.catalog
    return (chunk) => pages[pagesOfChunks[chunk] ?? 0] === 1
  }
}

/** The current segments of another index, and one in memory for the pages of a layer over it. */
class LaidOverSegments implements Segments {
  readonly removedTerms: CountedTerms
  readonly #below: () => readonly OpenSegment[]
  readonly #catalog: Catalog
  readonly #store: IndexStore
  readonly #removed = new RemovedTerms()
  #own: readonly OpenSegment[] = []
  #known: { below: readonly OpenSegment[]; all: readonly OpenSegment[] } | undefined

  constructor(
    {
      segments,
      removedTerms: below,
      store,
    }: { segments: () => readonly OpenSegment[]; removedTerms: CountedTerms; store: IndexStore },
    catalog: Catalog,
  ) {
    this.#below = segments
    this.#catalog = catalog
    this.#store = store
    const removed = this.#removed
    this.removedTerms = {
      get isEmpty() {
        return below.isEmpty && removed.isEmpty
      },
      countOf(term, ofPages) {
        const [one, other] = [below.countOf(term, ofPages), removed.countOf(term, ofPages)]
        if (one === undefined || other === undefined) return one ?? other
        return { chunks: one.chunks + other.chunks, pages: one.pages + other.pages }
      },
    }
  }

  get segments(): readonly OpenSegment[] {
    const below = this.#below()
    if (this.#known?.below !== below) this.#known = { below, all: [...below, ...this.#own] }
    return this.#known.all
  }

  add(pages: readonly InvertedPage[]): void {
    if (pages.length === 0) return
    const segment = invert(pages, this.#catalog)
    this.#own = [...this.#own, { segment, windows: windowsOf(segment.pages, this.#catalog), removedChunks: 0 }]
    this.#known = undefined
  }

  /** Removes a page of the index below, whose segment keeps it. */
  remove({ class: ofPage, firstChunk, lengths }: StoredPage): void {
    const chunks = [...this.#store.termsOf(firstChunk, firstChunk + lengths.length)]
    this.#removed.add({ class: ofPage, chunks })
  }

  work(): boolean {
    return false
  }

  save(): void {}

  close(): void {
    for (const { segment } of this.#own) segment.close()
  }
}
