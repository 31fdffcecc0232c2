import type { Catalog } from '../index/catalog.ts'
import type { IndexStore } from '../index/index-store.ts'
import type { StoredPage } from '../index/store-tables.ts'
import { windowsOf } from '../rank/window-scorer.ts'
import { type InvertedPage, invert } from './invert.ts'
import { type CountedTerms, type OpenSegment, RemovedTerms, type Segments } from './segment-log.ts'

/** The current segments of another index, and one in memory for the pages of a layer over it. */
export class LaidOverSegments implements Segments {
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
