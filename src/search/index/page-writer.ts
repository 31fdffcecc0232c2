import { randomUUID } from 'node:crypto'
import type { IndexedDocument, PagePart } from '../search-index.ts'
import type { Analyser } from '../text/analyser.ts'
import { type Catalog, isUnfinished } from './catalog.ts'
import { factsOf, type IndexStore, unfinished } from './index-store.ts'
import { type CatalogPage, packPages, pagesPerBlock } from './packed-pages.ts'
import { type ChunkTerms, pageTerms } from './page-terms.ts'
import type { StoredPage } from './store-tables.ts'
import type { TermEngine } from './term-engine.ts'

/** Chunks that are removed at a time. */
const partSize = 64

/** A page with the terms of its chunks. */
export type AnalysedPage = Omit<IndexedDocument, 'chunks'> & { chunks: readonly ChunkTerms[] }

/** Adds and removes pages in a store, its catalog and its engine. Call every method within a transaction of the store. */
export class PageWriter {
  readonly #store: IndexStore
  readonly #catalog: Catalog
  readonly #analyser: Analyser
  /** Number of chunks added or removed. */
  changedChunks = 0

  constructor(store: IndexStore, catalog: Catalog, analyser: Analyser) {
    this.#store = store
    this.#catalog = catalog
    this.#analyser = analyser
  }

  /** Adds a page under a free key. */
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

  /** See `KbIndex`. */
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

  /** See `KbIndex`. */
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

  /** Adds a page without its chunks, of which there will be at most `total`. */
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

/** Unused ids tolerated in addition to as many as there are in use: each takes some bytes of memory. */
const maxGone = 50_000

/** True if more ids are unused than in use: every edit of a page takes new ones. False while a page is indexed in parts. */
export function isSparse(catalog: Catalog, store: IndexStore): boolean {
  const { pageCount, pageEnd, chunkCount } = catalog
  const isTooLong = pageEnd > 2 * pageCount + maxGone || store.nextChunk > 2 * chunkCount + maxGone
  return isTooLong && catalog.pages().every(({ isWhole }) => isWhole)
}

/** Renumbers pages and chunks without gaps, in the same order. Invalidates the files of engines. Within a transaction. */
export function renumber(catalog: Catalog, store: IndexStore): void {
  const { db } = store
  const movePage = db.prepare('UPDATE pages SET id = ? WHERE id = ?')
  const moves = [
    'chunks SET id = id - ? WHERE id >= ? AND id < ?',
    'hashes SET chunk = chunk - ? WHERE chunk >= ? AND chunk < ?',
  ]
  const moveChunks = moves.map((move) => db.prepare(`UPDATE ${move}`))
  const moved: CatalogPage[] = []
  let nextChunk = 1
  for (const page of catalog.pages()) {
    const [id, distance] = [moved.length + 1, page.firstChunk - nextChunk]
    movePage.run(id, page.id)
    for (const move of moveChunks) move.run(distance, page.firstChunk, page.firstChunk + page.lengths.length)
    moved.push({ ...page, id, firstChunk: nextChunk })
    nextChunk += page.lengths.length
  }
  db.exec('DELETE FROM catalog; DELETE FROM segments')
  const blocks = Map.groupBy(moved, ({ id }) => Math.floor(id / pagesPerBlock))
  for (const [block, pages] of blocks) store.setBlock(block, packPages(pages))
  store.removedChunks.forgetSnapshot()
  db.prepare("UPDATE sqlite_sequence SET seq = ? WHERE name = 'pages'").run(moved.length)
  store.nextChunk = nextChunk
  store.setStamp(randomUUID(), moved.length)
}
