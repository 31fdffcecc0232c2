import type { IndexedDocument, PagePart } from '../search-index.ts'
import type { Analyser } from '../text/analyser.ts'
import { type Catalog, isUnfinished } from './catalog.ts'
import { factsOf, type IndexStore, unfinished } from './index-store.ts'
import { type ChunkTerms, pageTerms } from './page-terms.ts'
import type { StoredPage } from './store-tables.ts'
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
  add({ chunks, ...page }: AnalysedPage, engine: TermEngine): void {
    const added = this.#addChunks(this.#begin(page, chunks.length), chunks, engine)
    engine.addPage(added.id)
  }

  remove(page: StoredPage, engine: TermEngine): void {
    this.changedChunks += page.lengths.length
    engine.removeChunks(page, page.lengths.length)
    if (!isUnfinished(page)) engine.removePage(page)
    this.#store.remove(page)
    this.#catalog.remove(page)
  }

  /** See `SearchIndex`. */
  grow({ fingerprint, start, total, ...part }: PagePart, engine: TermEngine): number {
    const { key, version } = part
    const found = this.#store.find(key)
    const page = found && this.#catalog.stored(found)
    if (page?.version === version) return total
    const versionOfPart = `${unfinished}${fingerprint}`
    if (page !== undefined && page.version !== versionOfPart) {
      this.shrink(key, engine)
      return 0
    }
    const held = page?.lengths.length ?? 0
    if (held !== start) return held
    const chunks = pageTerms(part, this.#analyser, start)
    const growing = page ?? this.#begin({ ...part, version: versionOfPart }, total)
    const longer = this.#addChunks(growing, chunks, engine)
    if (start + chunks.length >= total) {
      this.#setVersion(longer, version)
      engine.addPage(growing.id)
    }
    return start + chunks.length
  }

  /** See `SearchIndex`. */
  shrink(key: string, engine: TermEngine): number {
    const found = this.#store.find(key)
    if (found === undefined) return 0
    const page = this.#catalog.stored(found)
    if (page.lengths.length <= partSize) {
      this.remove(page, engine)
      return 0
    }
    if (!isUnfinished(page)) {
      engine.removePage(page)
      this.#setVersion(page, unfinished)
    }
    this.changedChunks += partSize
    engine.removeChunks(page, partSize)
    const shorter = this.#store.removeLastChunks({ ...page, version: unfinished }, partSize)
    this.#catalog.update(shorter)
    return shorter.lengths.length
  }

  /** A page without its chunks, which will be `total` at most. */
  #begin(page: Omit<IndexedDocument, 'chunks'>, total: number): StoredPage {
    const added = this.#store.add(page, total)
    this.#catalog.add(added.page, added.class, page.note, factsOf(page))
    return added.page
  }

  #addChunks(page: StoredPage, chunks: readonly ChunkTerms[], engine: TermEngine): StoredPage {
    this.changedChunks += chunks.length
    const longer = this.#store.addChunks(page, chunks)
    this.#catalog.update(longer)
    const first = page.firstChunk + page.lengths.length
    engine.addChunks(chunks.map(({ terms }, index) => ({ id: first + index, terms })))
    return longer
  }

  #setVersion(page: StoredPage, version: string): void {
    this.#store.setVersion(page.id, version)
    this.#catalog.update({ ...page, version })
  }
}
