import { randomUUID } from 'node:crypto'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import { Catalog } from './index/catalog.ts'
import { IndexStore } from './index/index-store.ts'
import { pageTerms } from './index/page-terms.ts'
import { type AnalysedPage, isSparse, PageWriter, renumber } from './index/page-writer.ts'
import { removeFile } from './index/store-file.ts'
import type { IndexParts, TermEngine } from './index/term-engine.ts'
import { IndexReader } from './index-reader.ts'
import { MiniSearchEngine } from './minisearch/minisearch-engine.ts'
import {
  type ChunkHit,
  type Engine,
  type IndexedDocument,
  type PageHit,
  type PageHits,
  type PagePart,
  StaleIndex,
} from './search-index.ts'
import { SegmentEngine } from './segments/segment-engine.ts'
import { SegmentFiles } from './segments/segment-files.ts'
import { SegmentLog } from './segments/segment-log.ts'
import { type Analyser, analyserFor } from './text/analyser.ts'
import { KbVectors, type VectorsAddress } from './vectors/kb-vectors.ts'

/** Milliseconds for merging segments: per quiet step, per change, and in addition per changed chunk. */
const workTime = { quiet: 5, change: 0.5, chunk: 0.1 }
/** Limits of chunks and different terms up to which `auto` keeps postings in memory. It returns to memory below half of the chunks. */
const maxInMemory = { chunks: 2_000, terms: 100_000 }
/** Bytes of vectors that count as one chunk in memory. */
const bytesPerChunk = 5_500
/** Chunks with postings on disk that count as one chunk in memory. */
const chunksOnDisk = 100
/** Different terms that count as one chunk in memory. */
const termsPerChunk = 15

/** Maximum layers over one index. */
const maxLayers = 8

/** Pages to add or replace, and keys to remove. */
export type IndexChanges = { put: readonly IndexedDocument[]; remove: readonly string[] }
type Layer = { reader: IndexReader; close: () => void }

/** Name of the store's file in the folder of an index. */
export const storeFile = 'search.db'
const snapshotFile = 'search.json'

export type IndexOptions = {
  /** BCP 47 language tag; selects the analyser. */
  language: string
  engine: Engine | 'auto'
  /** Absent if search uses words alone. */
  vectors?: VectorsAddress | undefined
}

/**
 * Full-text index of one knowledge base, in a folder of its own. Its content depends on its pages alone, not on their history. If {@link apply}
 * throws, close and reopen it.
 */
export class KbIndex implements Pick<IndexReader, 'search' | 'retrieve' | 'near'> {
  readonly #analyser: Analyser
  readonly #store: IndexStore
  readonly #catalog: Catalog
  readonly #directory: string
  readonly options: IndexOptions
  /** Undefined if search uses words alone. */
  readonly vectors: KbVectors | undefined
  #engine: { name: Engine; terms: TermEngine }
  /** Identifies the content; changes with every change. */
  stamp: string
  readonly #writer: PageWriter
  readonly #reader: IndexReader
  readonly #layers = new LRUCache<string, Layer>({ max: maxLayers, dispose: ({ close }) => close() })

  constructor(directory: string, options: IndexOptions) {
    this.options = options
    mkdirSync(directory, { recursive: true })
    this.#analyser = analyserFor(options.language)
    this.#store = new IndexStore(join(directory, storeFile), this.#analyser.version)
    this.#directory = directory
    try {
      this.#catalog = this.#openCatalog()
      this.stamp = this.#store.stamp()
      this.vectors = options.vectors && new KbVectors(options.vectors, this.#store, this.#catalog)
      this.#writer = new PageWriter(this.#store, this.#catalog, this.#analyser)
      this.#engine = this.#openEngine(this.#fitting(0))
      this.#reader = new IndexReader(() => this.#parts, options.language, this.vectors)
    } catch (error) {
      this.#store.close()
      throw error
    }
  }

  static remove(directory: string): void {
    removeFile(join(directory, storeFile))
    rmSync(join(directory, snapshotFile), { force: true })
    SegmentFiles.remove(directory)
  }

  /** True if reopening would save memory. */
  get isSparse(): boolean {
    return isSparse(this.#catalog, this.#store)
  }

  get engine(): Engine {
    return this.#engine.name
  }

  /** Chunks with postings in memory. Other terms and vectors are counted as the chunks that take the same memory. */
  get chunksInMemory(): number {
    const ofVectors = Math.floor((this.vectors?.size ?? 0) / bytesPerChunk)
    const ofCatalog = Math.floor(this.#catalog.chunkCount / chunksOnDisk)
    const ofOthers = ofVectors + this.#layers.size * ofCatalog
    if (this.engine !== 'minisearch') return ofOthers + ofCatalog
    return ofOthers + this.#catalog.chunkCount + Math.floor(this.#engine.terms.termsInMemory / termsPerChunk)
  }

  /** Chunks added or removed since {@link save}. */
  get unsavedChunks(): number {
    return this.#writer.changedChunks
  }

  /** True if no other process has changed the index. */
  get isCurrent(): boolean {
    return this.#store.stamp() === this.stamp
  }

  /** Returns the versions of at most `limit` pages with keys after `after`, ordered by the UTF-8 bytes of their keys. */
  versions(after: string, limit: number): [key: string, version: string][] {
    return this.#store.versions(after, limit)
  }

  version(key: string): string | undefined {
    return this.#store.find(key)?.version
  }

  /** Adds or replaces pages and removes others, in one transaction. */
  apply({ put, remove }: IndexChanges, newStamp: string = randomUUID()): void {
    const pages = analysed(put, this.#analyser)
    this.#change(newStamp, () => exchange(pages, remove, this.#writer, this.#parts))
  }

  /** Adds a part of a page, or first removes its old version in parts. @returns the number of the page's chunks in the index */
  grow(part: PagePart, newStamp: string = randomUUID()): number {
    let held = 0
    this.#change(newStamp, (engine) => {
      held = this.#writer.grow(part, engine)
    })
    return held
  }

  /** Removes a page in parts; it is invisible from the first on. @returns the number of chunks left */
  shrink(key: string, newStamp: string = randomUUID()): number {
    let left = 0
    this.#change(newStamp, (engine) => {
      left = this.#writer.shrink(key, engine)
    })
    return left
  }

  search(...asked: Parameters<IndexReader['search']>): PageHits {
    return this.#reader.search(...asked)
  }

  retrieve(...asked: Parameters<IndexReader['retrieve']>): ChunkHit[] {
    return this.#reader.retrieve(...asked)
  }

  near(...asked: Parameters<IndexReader['near']>): PageHit[] {
    return this.#reader.near(...asked)
  }

  /**
   * Adds a layer of pages over the index, in memory until the index changes. Keeps the last 8 layers.
   * @param changes left out to ask only
   * @returns true if there is a layer of this name
   */
  layOver(name: string, changes?: IndexChanges): boolean {
    if (changes === undefined || this.#layers.has(name)) return this.#layers.has(name)
    const { analyser, ...below } = this.#parts
    const store = IndexStore.over(below.store, analyser.version)
    const catalog = Catalog.over(below.catalog, store)
    const engine = below.engine.over(catalog, store)
    const parts = { analyser, store, catalog, engine }
    exchange(analysed(changes.put, analyser), changes.remove, new PageWriter(store, catalog, analyser), parts)
    engine.commit()
    const reader = new IndexReader(() => parts, this.options.language, this.vectors)
    const close = () => {
      engine.close()
      store.close()
    }
    this.#layers.set(name, { reader, close })
    return true
  }

  /** Returns a reader of the index with a layer over it. @throws {StaleIndex} if there is no such layer */
  withLayer(name: string): IndexReader {
    const layer = this.#layers.get(name)
    if (layer === undefined) throw new StaleIndex()
    return layer.reader
  }

  /** Saves a snapshot, which speeds up the next opening. */
  save(): void {
    this.#store.transaction(() => {
      if (!this.isCurrent) throw new StaleIndex()
      this.#engine.terms.save()
    })
    this.#writer.changedChunks = 0
  }

  /** Merges segments for some milliseconds. @returns true if there is more to do @throws {StaleIndex} */
  work(): boolean {
    let hasMore = false
    if (this.engine === 'minisearch') return hasMore
    this.#store.transaction(() => {
      if (!this.isCurrent) throw new StaleIndex()
      hasMore = this.#engine.terms.work(performance.now() + workTime.quiet)
    })
    return hasMore
  }

  close(): void {
    this.#layers.clear()
    this.vectors?.close()
    this.#engine.terms.close()
    this.#store.close()
  }

  get #parts(): IndexParts {
    return { analyser: this.#analyser, engine: this.#engine.terms, store: this.#store, catalog: this.#catalog }
  }

  /** Changes the index in a transaction and sets its stamp. Switches the engine if the size requires it. @throws {StaleIndex} */
  #change(newStamp: string, work: (engine: TermEngine) => void): void {
    this.#layers.clear()
    this.#store.transaction(() => {
      if (!this.isCurrent) throw new StaleIndex()
      const before = this.#writer.changedChunks
      work(this.#engine.terms)
      this.#engine.terms.commit()
      const time = workTime.change + workTime.chunk * (this.#writer.changedChunks - before)
      this.#engine.terms.work(performance.now() + time)
      this.#catalog.save()
      this.#store.setStamp(newStamp, this.#catalog.pageCount)
    })
    this.stamp = newStamp
    const fitting = this.#fitting(this.#engine.terms.termsInMemory)
    if (fitting === this.engine) return
    this.#engine.terms.close()
    this.#engine = this.#openEngine(fitting)
  }

  #fitting(termCount: number): Engine {
    if (this.options.engine !== 'auto') return this.options.engine
    const { chunkCount } = this.#catalog
    const outgrownAt = this.#store.outgrownAt()
    if (outgrownAt !== undefined && chunkCount > outgrownAt / 2) return 'segments'
    const isOutgrown = chunkCount > maxInMemory.chunks || termCount > maxInMemory.terms
    if (isOutgrown || outgrownAt !== undefined) this.#store.noteOutgrown(isOutgrown ? chunkCount : undefined)
    return isOutgrown ? 'segments' : 'minisearch'
  }

  /** Opens the catalog. Renumbers pages and chunks first if most ids are unused. */
  #openCatalog(): Catalog {
    const stamp = this.#store.stamp()
    const catalog = new Catalog(this.#store)
    if (!isSparse(catalog, this.#store)) return catalog
    this.#store.transaction(() => {
      if (this.#store.stamp() === stamp) renumber(catalog, this.#store)
    })
    return new Catalog(this.#store)
  }

  #openEngine(name: Engine): { name: Engine; terms: TermEngine } {
    let terms: TermEngine | undefined
    if (name === 'segments') {
      this.#store.transaction(() => {
        const log = new SegmentLog(this.#catalog, this.#store, this.#directory)
        terms = new SegmentEngine(this.#catalog, this.#store, log)
      })
    } else {
      this.#store.transaction(() => SegmentEngine.drop(this.#store, this.#directory))
    }
    terms ??= new MiniSearchEngine(this.#catalog, this.#store, join(this.#directory, snapshotFile))
    return { name, terms }
  }
}

function analysed(pages: readonly IndexedDocument[], analyser: Analyser): AnalysedPage[] {
  return pages.map((page) => ({ ...page, chunks: pageTerms(page, analyser) }))
}

/** Removes pages and replaced versions, and adds new ones. */
function exchange(
  put: readonly AnalysedPage[],
  remove: readonly string[],
  writer: PageWriter,
  { store, catalog, engine }: IndexParts,
): void {
  for (const key of new Set([...remove, ...put.map(({ key }) => key)])) {
    const page = store.find(key)
    if (page !== undefined) writer.remove(catalog.stored(page), engine)
  }
  for (const page of put) writer.add(page, engine)
}
