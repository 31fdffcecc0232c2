import type { Catalog } from '../index/catalog.ts'
import type { IndexStore } from '../index/index-store.ts'
import type { StoredPage } from '../index/store-tables.ts'
import { firstFrom } from '../rank/posting-list.ts'
import { windowsOf } from '../rank/window-scorer.ts'
import { TermTable, termHash } from '../text/term-table.ts'
import { Segment, type SegmentShape } from './format/segment.ts'
import { FileSink, MemorySink } from './format/segment-bytes.ts'
import { type InvertedPage, invert, merge } from './invert.ts'
import { SegmentFiles } from './segment-files.ts'

/** Maximum chunks of segments in memory. A restart rebuilds them, some 20,000 chunks a second. */
const maxInMemory = 4096
/** Number of segments of similar size that are merged. Each size is four times the one before. */
const fanIn = 4
/** Share of removed chunks above which a segment is rewritten, and the number of them below which it is not. */
const maxRemovedPart = 0.1
const minRemoved = 1000
/** Number of segments above which writing waits for merging. */
const maxSegments = 48
/** Number of terms merged between two checks of the time. */
const termsPerStep = 32

/** An open segment; see {@link windowsOf}. */
export type OpenSegment = { segment: Segment; windows: Uint32Array; removedChunks: number }

/** Source of segments for an engine, to which it adds pages. */
export type Segments = Pick<SegmentLog, 'segments' | 'add' | 'remove' | 'work' | 'save' | 'close'> & {
  readonly removedTerms: CountedTerms
}

type Merging = {
  inputs: readonly OpenSegment[]
  work: Generator<undefined, SegmentShape>
  sink: MemorySink | FileSink
  /** 1 for each page of the new segment, by id. */
  isKept: Uint8Array
}

/**
 * The segments of an index. New pages first become a small segment in memory, and segments of similar size are merged into a
 * larger one, step by step: a log-structured merge (O'Neil et al., "The Log-Structured Merge-Tree", 1996). Removed pages stay in
 * their segments, invisible, until these are merged.
 */
export class SegmentLog implements Segments {
  readonly #catalog: Catalog
  readonly #store: IndexStore
  readonly #files: SegmentFiles
  readonly removedTerms = new RemovedTerms()
  /** Open segments; a new array after each change. */
  segments: readonly OpenSegment[]
  #merging: Merging | undefined

  /** Opens the segments. Must run within a transaction. @param directory folder of the files */
  constructor(catalog: Catalog, store: IndexStore, directory: string) {
    this.#catalog = catalog
    this.#store = store
    this.#files = new SegmentFiles(store, directory)
    // The snapshot of another engine is void.
    if (store.removedChunks.snapshot() !== undefined) store.removedChunks.forgetSnapshot()
    this.segments = this.#files.open().map((segment) => this.#opened(segment))
    // The last pages may be removed, but not from their segments.
    const lastPages = this.segments.map(({ segment }) => segment.pages.at(-1) ?? 0)
    const held = new Uint8Array(Math.max(catalog.pageEnd, ...lastPages.map((page) => page + 1)))
    for (const { segment } of this.segments) for (const page of segment.pages) held[page] = 1
    this.#loadRemoved(held)
    this.#addMissing(held)
  }

  /** Adds complete pages, by ascending id. */
  add(pages: readonly InvertedPage[]): void {
    if (pages.length > 0) this.segments = [...this.segments, this.#opened(invert(pages, this.#catalog))]
  }

  /** Removes a page. Called before it is removed from the store. */
  remove(page: StoredPage): void {
    const holding = this.segments.find(({ segment }) => segment.pages[firstFrom(segment.pages, page.id)] === page.id)
    if (holding === undefined) return
    this.#store.removedChunks.note(page, page.lengths.length)
    this.removedTerms.add({ class: page.class, chunks: this.#store.removedChunks.of(page.id) })
    holding.removedChunks += page.lengths.length
  }

  /** Merges segments. Must run within a transaction. @returns true if there is more to do */
  work(until: number): boolean {
    this.#files.sweep()
    for (
      let isFirst = true;
      isFirst || performance.now() < until || this.segments.length > maxSegments;
      isFirst = false
    ) {
      this.#merging ??= this.#nextMerging()
      if (this.#merging === undefined) return false
      this.#step(this.#merging)
    }
    return true
  }

  /** Writes the segments in memory to a file. Must run within a transaction. */
  save(): void {
    this.#abandon()
    this.#files.sweep()
    const inMemory = this.segments.filter(({ segment }) => segment.name === undefined)
    if (inMemory.length === 0) return
    const merging = this.#begin(inMemory, Number.POSITIVE_INFINITY)
    while (this.#merging === merging) this.#step(merging)
  }

  close(): void {
    this.#abandon()
    for (const { segment } of this.segments) segment.close()
  }

  #step(merging: Merging): void {
    for (let count = 0; count < termsPerStep; count++) {
      const { done, value } = merging.work.next()
      if (done !== true) continue
      this.#finish(merging, value)
      return
    }
  }

  /** Starts a merge of segments of similar size if there are enough, or of one with many removed pages. */
  #nextMerging(): Merging | undefined {
    const bySize = Map.groupBy(this.segments, ({ segment, removedChunks }) => {
      return Math.floor(Math.log2(Math.max(16, segment.shape.chunkCount - removedChunks)) / 2)
    })
    const sizes = [...bySize].sort(([a], [b]) => a - b)
    const [, inputs] = sizes.find(([, segments]) => segments.length >= fanIn) ?? []
    if (inputs !== undefined) return this.#begin(inputs, liveChunks(inputs))
    const stale = this.segments.find(({ segment: { shape }, removedChunks }) => {
      return removedChunks > Math.max(minRemoved, maxRemovedPart * shape.chunkCount)
    })
    return stale && this.#begin([stale], liveChunks([stale]))
  }

  #begin(inputs: readonly OpenSegment[], chunkCount: number): Merging {
    const isKept = new Uint8Array(this.#catalog.pageEnd)
    for (let page = 0; page < isKept.length; page++) isKept[page] = this.#catalog.isWhole(page) ? 1 : 0
    const isInMemory = chunkCount <= maxInMemory && inputs.every(({ segment }) => segment.name === undefined)
    const sink = isInMemory ? new MemorySink() : this.#files.create()
    const chunkCountOfPage = (page: number) => this.#catalog.chunkCountOf(page)
    const segments = inputs.map(({ segment }) => segment)
    const work = merge(segments, { facts: this.#catalog, isKept, chunkCountOfPage }, sink)
    this.#merging = { inputs, work, sink, isKept }
    return this.#merging
  }

  #finish({ inputs, sink, isKept }: Merging, shape: SegmentShape): void {
    this.#merging = undefined
    const old = inputs.map(({ segment }) => segment)
    const isEmpty = shape.pageCount === 0
    if (isEmpty) sink.abandon()
    let made: Segment[] = []
    if (sink instanceof FileSink) made = this.#files.replace(old, isEmpty ? undefined : { sink, shape })
    else if (!isEmpty) made = [new Segment(sink.finish(), shape)]
    for (const segment of old) {
      for (const page of segment.pages) if (isKept[page] !== 1) this.#forgetRemoved(page)
      segment.close()
    }
    this.segments = [
      ...this.segments.filter((open) => !inputs.includes(open)),
      ...made.map((segment) => this.#opened(segment)),
    ]
  }

  #forgetRemoved(page: number): void {
    const chunks = this.#store.removedChunks.of(page)
    this.removedTerms.subtract({ class: chunks[0]?.class ?? 0, chunks })
    this.#store.removedChunks.forget(page)
  }

  #abandon(): void {
    this.#merging?.sink.abandon()
    this.#merging = undefined
  }

  #opened(segment: Segment): OpenSegment {
    let chunks = 0
    for (const page of segment.pages) if (this.#catalog.isWhole(page)) chunks += this.#catalog.chunkCountOf(page)
    const removedChunks = segment.shape.chunkCount - chunks
    return { segment, windows: windowsOf(segment.pages, this.#catalog), removedChunks }
  }

  /** Loads the terms of removed pages that a segment still contains. @param held 1 for each page in a segment, by id */
  #loadRemoved(held: Uint8Array): void {
    const byPage = Map.groupBy(this.#store.removedChunks.all(), ({ page }) => page)
    for (const [page, chunks] of byPage) {
      if (held[page] === 1) this.removedTerms.add({ class: chunks[0]?.class ?? 0, chunks })
      else this.#store.removedChunks.forget(page)
    }
  }

  /** Adds pages that no file contains, or whose file is damaged. */
  #addMissing(held: Uint8Array): void {
    let pages: InvertedPage[] = []
    let chunkCount = 0
    for (let page = 0; page < held.length; page++) {
      if (held[page] === 1 || !this.#catalog.isWhole(page)) continue
      const { from, to } = this.#catalog.chunkRange(page)
      pages.push({ id: page, chunks: [...this.#store.termsOf(from, to)] })
      chunkCount += to - from
      if (chunkCount < maxInMemory) continue
      this.add(pages)
      this.work(0)
      pages = []
      chunkCount = 0
    }
    this.add(pages)
  }
}

/** Counts the chunks of segments that are not removed. */
function liveChunks(segments: readonly OpenSegment[]): number {
  return segments.reduce((sum, { segment, removedChunks }) => sum + segment.shape.chunkCount - removedChunks, 0)
}

/** A removed page with the terms of its chunks. */
type RemovedPage = { class: number; chunks: readonly { terms: string }[] }
type Count = { chunks: number; pages: number }

/** Counts of chunks and pages with a term, by the class of the pages. */
export type CountedTerms = Pick<RemovedTerms, 'isEmpty' | 'countOf'>

/** Counts terms in removed chunks and pages that are still in a segment. The counts of segments less these are the current ones. */
export class RemovedTerms {
  readonly #byClass = new Map<number, TermCounts>()

  add(page: RemovedPage): void {
    const counts = this.#byClass.get(page.class) ?? new TermCounts()
    this.#byClass.set(page.class, counts)
    counts.change(page, 1)
  }

  /** Subtracts a page that no segment contains any more. */
  subtract(page: RemovedPage): void {
    const counts = this.#byClass.get(page.class)
    counts?.change(page, -1)
    if (counts?.pageCount === 0) this.#byClass.delete(page.class)
  }

  get isEmpty(): boolean {
    return this.#byClass.size === 0
  }

  countOf(term: string, ofPages: number): Count | undefined {
    return this.#byClass.get(ofPages)?.countOf(term)
  }
}

class TermCounts {
  pageCount = 0
  readonly #table = new TermTable()
  readonly #chunks: number[] = []
  readonly #pages: number[] = []
  /** Last chunk and page with each term, so that it counts once in each. */
  readonly #lastChunk: number[] = []
  readonly #lastPage: number[] = []
  #number = 0

  change({ chunks }: RemovedPage, amount: 1 | -1): void {
    this.pageCount += amount
    const page = ++this.#number
    for (const { terms } of chunks) {
      const chunk = ++this.#number
      for (const index of this.#table.addTerms(terms)) {
        if (this.#lastChunk[index] === chunk) continue
        this.#lastChunk[index] = chunk
        this.#chunks[index] = (this.#chunks[index] ?? 0) + amount
        if (this.#lastPage[index] === page) continue
        this.#lastPage[index] = page
        this.#pages[index] = (this.#pages[index] ?? 0) + amount
      }
    }
  }

  countOf(term: string): Count | undefined {
    const index = this.#table.find(term, 0, term.length, termHash(term))
    return index < 0 ? undefined : { chunks: this.#chunks[index] ?? 0, pages: this.#pages[index] ?? 0 }
  }
}
