import { randomUUID } from 'node:crypto'
import type { PagePart } from '../search-index.ts'
import { type Catalog, isUnfinished } from './catalog.ts'
import { factsOf, type IndexStore, type NewPage, unfinished } from './index-store.ts'
import { type ChunkTerms, pageTerms } from './page-terms.ts'
import { type CatalogPage, packPages, pagesPerBlock, type StoredPage } from './store-tables.ts'
import type { IndexParts } from './term-engine.ts'

/** Maximum chunks that are removed at a time. */
const partSize = 64

/** A page with the terms of its chunks. */
export type AnalysedPage = NewPage & { chunks: readonly ChunkTerms[] }

/** Adds and removes pages of an index. Use within one transaction of its store. */
export class PageWriter {
  readonly #parts: IndexParts
  /** Number of chunks added or removed. */
  changedChunks = 0

  constructor(parts: IndexParts) {
    this.#parts = parts
  }

  /** Removes pages and replaced versions, and adds new ones. */
  exchange(put: readonly AnalysedPage[], remove: readonly string[]): void {
    const { store, catalog, engine } = this.#parts
    for (const key of new Set([...remove, ...put.map(({ key }) => key)])) {
      const page = store.find(key)
      if (page !== undefined) this.#remove(catalog.stored(page))
    }
    for (const { chunks, ...page } of put) {
      const added = this.#addChunks(this.#begin(page, chunks.length), chunks)
      engine.addPage(added.id)
    }
  }

  /** Adds a part of a page, or first removes its old version in parts. @returns the number of the page's chunks in the index */
  grow({ fingerprint, start, total, ...part }: PagePart): number {
    const { store, catalog, engine, analyser } = this.#parts
    const { key, version } = part
    const found = store.find(key)
    const page = found && catalog.stored(found)
    if (page?.version === version) return total
    const versionOfPart = `${unfinished}${fingerprint}`
    if (page !== undefined && page.version !== versionOfPart) {
      this.shrink(key)
      return 0
    }
    const held = page?.lengths.length ?? 0
    if (held !== start) return held
    const chunks = pageTerms(part, analyser, start)
    const growing = page ?? this.#begin({ ...part, version: versionOfPart }, total)
    const longer = this.#addChunks(growing, chunks)
    if (start + chunks.length >= total) {
      this.#setVersion(longer, version)
      engine.addPage(growing.id)
    }
    return start + chunks.length
  }

  /** Removes the last chunks of a page, which is invisible from the first call on. @returns the number of chunks left */
  shrink(key: string): number {
    const { store, catalog, engine } = this.#parts
    const found = store.find(key)
    if (found === undefined) return 0
    const page = catalog.stored(found)
    if (page.lengths.length <= partSize) {
      this.#remove(page)
      return 0
    }
    if (!isUnfinished(page)) {
      engine.removePage(page)
      this.#setVersion(page, unfinished)
    }
    this.changedChunks += partSize
    engine.removeChunks(page, partSize)
    const shorter = store.removeLastChunks({ ...page, version: unfinished }, partSize)
    catalog.update(shorter)
    return shorter.lengths.length
  }

  #remove(page: StoredPage): void {
    const { store, catalog, engine } = this.#parts
    this.changedChunks += page.lengths.length
    engine.removeChunks(page, page.lengths.length)
    if (!isUnfinished(page)) engine.removePage(page)
    store.remove(page)
    catalog.remove(page)
  }

  /** Adds a page without its chunks, of which there will be at most `total`. */
  #begin(page: NewPage, total: number): StoredPage {
    const added = this.#parts.store.add(page, total)
    this.#parts.catalog.add(added.page, added.class, page.note, factsOf(page))
    return added.page
  }

  #addChunks(page: StoredPage, chunks: readonly ChunkTerms[]): StoredPage {
    const { store, catalog, engine } = this.#parts
    this.changedChunks += chunks.length
    const longer = store.addChunks(page, chunks)
    catalog.update(longer)
    const first = page.firstChunk + page.lengths.length
    engine.addChunks(chunks.map(({ terms }, index) => ({ id: first + index, terms })))
    return longer
  }

  #setVersion(page: StoredPage, version: string): void {
    this.#parts.store.setVersion(page.id, version)
    this.#parts.catalog.update({ ...page, version })
  }
}

/** Maximum unused ids, in addition to the number of used ones. Each takes some bytes of memory. */
const maxGone = 50_000

/** True if more ids are unused than in use: every edit of a page takes new ones. False while a page is indexed in parts. */
export function isSparse({ catalog, store }: Pick<IndexParts, 'catalog' | 'store'>): boolean {
  const { pageCount, pageEnd, chunkCount } = catalog
  const isTooLong = pageEnd > 2 * pageCount + maxGone || store.nextChunk > 2 * chunkCount + maxGone
  return isTooLong && catalog.pages().every(({ isWhole }) => isWhole)
}

/** Renumbers pages and chunks without gaps, in the same order. Invalidates the files of engines. Must run within a transaction. */
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
