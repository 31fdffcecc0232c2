import type { IndexedDocument, PagePart } from '../search-index.ts'
import type { Analyser } from '../text/analyser.ts'
import { type Catalog, isUnfinished, unfinished } from './catalog.ts'
import type { IndexStore, StoredPage } from './index-store.ts'
import { type ChunkTerms, pageTerms } from './page-terms.ts'
import type { TermEngine } from './term-engine.ts'

/** Chunks that are taken out at a time. */
const partSize = 64

/** A page with what its chunks are found by. */
export type AnalysedPage = Omit<IndexedDocument, 'chunks'> & { chunks: readonly ChunkTerms[] }

/** Takes pages in and out of a store, its catalog and its engine. Every method within a transaction of the store. */
export class PageWriter {
  readonly #store: IndexStore
  readonly #catalog: Catalog
  readonly #analyser: Analyser
  /** Chunks that came or went. */
  changedChunks = 0

  constructor(store: IndexStore, catalog: Catalog, analyser: Analyser) {
    this.#store = store
    this.#catalog = catalog
    this.#analyser = analyser
  }

  /** Under a key that is free. */
  add(page: AnalysedPage, engine: TermEngine): void {
    const added = this.#begin(page)
    this.#addChunks(added, page.chunks, engine)
    engine.addPage(added.id, page.chunks.map(({ terms }) => terms).join(''))
  }

  remove(page: StoredPage, engine: TermEngine): void {
    this.changedChunks += page.chunks.length
    engine.removeChunks(page.chunks)
    if (!isUnfinished(page)) engine.removePage(page.id)
    this.#store.remove(page.id)
    this.#catalog.remove(page)
  }

  /** See `SearchIndex`. */
  grow({ fingerprint, start, total, ...part }: PagePart, engine: TermEngine): number {
    const { key, version } = part
    const page = this.#catalog.find(key)
    if (page?.version === version) return total
    const versionOfPart = `${unfinished}${fingerprint}`
    if (page !== undefined && page.version !== versionOfPart) {
      this.shrink(key, engine)
      return 0
    }
    const held = page?.chunks.length ?? 0
    if (held !== start) return held
    const chunks = pageTerms(part, this.#analyser, start)
    const growing = page ?? this.#begin({ ...part, version: versionOfPart })
    this.#addChunks(growing, chunks, engine)
    if (start + chunks.length >= total) {
      engine.addPage(growing.id, this.#store.termsOfPage(growing.id))
      this.#setVersion(growing, version)
    }
    return start + chunks.length
  }

  /** See `SearchIndex`. */
  shrink(key: string, engine: TermEngine): number {
    const page = this.#catalog.find(key)
    if (page === undefined) return 0
    if (page.chunks.length <= partSize) {
      this.remove(page, engine)
      return 0
    }
    if (!isUnfinished(page)) {
      engine.removePage(page.id)
      this.#setVersion(page, unfinished)
    }
    const last = page.chunks.slice(-partSize)
    this.changedChunks += last.length
    engine.removeChunks(last)
    this.#store.removeChunks(last)
    this.#catalog.removeLast(key, last.length)
    return page.chunks.length
  }

  /** A page without its chunks. */
  #begin(page: Omit<IndexedDocument, 'chunks'>): StoredPage {
    const added = this.#store.add({ ...page, chunks: [] })
    this.#catalog.add(added)
    return added
  }

  #addChunks(page: StoredPage, chunks: readonly ChunkTerms[], engine: TermEngine): void {
    this.changedChunks += chunks.length
    const stored = this.#store.addChunks(page.id, chunks)
    this.#catalog.addChunks(page.key, stored)
    engine.addChunks(stored.map(({ id }, index) => ({ id, terms: chunks[index]?.terms ?? '' })))
  }

  #setVersion(page: StoredPage, version: string): void {
    this.#store.setVersion(page.id, version)
    this.#catalog.setVersion(page.key, version)
  }
}
