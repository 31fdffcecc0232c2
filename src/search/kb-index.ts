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
import { type Engine, type IndexedDocument, type PagePart, StaleIndex } from './search-index.ts'
import { SegmentEngine } from './segments/segment-engine.ts'
import { SegmentFiles } from './segments/segment-files.ts'
import { SegmentLog } from './segments/segment-log.ts'
import { analyserFor } from './text/analyser.ts'
import { KbVectors, type VectorsAddress } from './vectors/vector-index.ts'

/** Milliseconds for merging segments: while idle, per change, and additionally per changed chunk. */
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
  /** Location of the vectors. Absent if search uses words alone. */
  vectors?: VectorsAddress | undefined
}

/**
 * Full-text index of one knowledge base, in a folder of its own. Its content depends on its pages alone, not on their history. If {@link apply}
 * throws, close and reopen it.
 */
export class KbIndex extends IndexReader {
  readonly #directory: string
  readonly options: IndexOptions
  engine: Engine
  /** Identifies the content; changes with every change. */
  stamp: string
  /** Chunks added or removed since {@link save}. */
  unsavedChunks = 0
  readonly #layers = new LRUCache<string, Layer>({ max: maxLayers, dispose: ({ close }) => close() })

  constructor(directory: string, options: IndexOptions) {
    mkdirSync(directory, { recursive: true })
    const analyser = analyserFor(options.language)
    const store = new IndexStore(join(directory, storeFile), analyser.version)
    try {
      const catalog = openCatalog(store)
      const stamp = store.stamp()
      const vectors = options.vectors && new KbVectors(options.vectors, store, catalog)
      const name = fittingEngine(options, { catalog, store }, 0)
      super(
        { analyser, store, catalog, engine: openEngine(name, { catalog, store }, directory) },
        options.language,
        vectors,
      )
      this.#directory = directory
      this.options = options
      this.engine = name
      this.stamp = stamp
    } catch (error) {
      store.close()
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
    return isSparse(this.parts)
  }

  /** Chunks with postings in memory. Other terms and vectors are counted as the chunks that take the same memory. */
  get chunksInMemory(): number {
    const { catalog, engine } = this.parts
    const ofVectors = Math.floor((this.vectors?.size ?? 0) / bytesPerChunk)
    const ofCatalog = Math.floor(catalog.chunkCount / chunksOnDisk)
    const ofOthers = ofVectors + this.#layers.size * ofCatalog
    if (this.engine !== 'minisearch') return ofOthers + ofCatalog
    return ofOthers + catalog.chunkCount + Math.floor(engine.termsInMemory / termsPerChunk)
  }

  /** True if no other process has changed the index. */
  get isCurrent(): boolean {
    return this.parts.store.stamp() === this.stamp
  }

  /** Returns the versions of at most `limit` pages with keys after `after`, ordered by the UTF-8 bytes of their keys. */
  versions(after: string, limit: number): [key: string, version: string][] {
    return this.parts.store.versions(after, limit)
  }

  version(key: string): string | undefined {
    return this.parts.store.find(key)?.version
  }

  /** Adds or replaces pages and removes others, in one transaction. */
  apply({ put, remove }: IndexChanges, newStamp?: string): void {
    const pages = analysed(put, this.parts)
    this.#change((writer) => writer.exchange(pages, remove), newStamp)
  }

  /** Adds a part of a large page; see {@link PageWriter.grow}. */
  grow(part: PagePart, newStamp?: string): number {
    return this.#change((writer) => writer.grow(part), newStamp)
  }

  /** Removes the last chunks of a page; see {@link PageWriter.shrink}. */
  shrink(key: string, newStamp?: string): number {
    return this.#change((writer) => writer.shrink(key), newStamp)
  }

  /**
   * Adds a layer of pages over the index, in memory until the index changes. Keeps the last 8 layers.
   * @param changes the pages of the layer; if absent, no layer is added
   * @returns true if there is a layer of this name
   */
  layOver(name: string, changes?: IndexChanges): boolean {
    if (changes === undefined || this.#layers.has(name)) return this.#layers.has(name)
    const { analyser, ...below } = this.parts
    const store = IndexStore.over(below.store, analyser.version)
    const catalog = Catalog.over(below.catalog, store)
    const engine = below.engine.over(catalog, store)
    const parts = { analyser, store, catalog, engine }
    new PageWriter(parts).exchange(analysed(changes.put, parts), changes.remove)
    engine.commit()
    const reader = new IndexReader(parts, this.options.language, this.vectors)
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
    this.#transaction(() => this.parts.engine.save())
    this.unsavedChunks = 0
  }

  /** Merges segments for some milliseconds. @returns true if there is more to do @throws {StaleIndex} */
  work(): boolean {
    if (this.engine === 'minisearch') return false
    return this.#transaction(() => this.parts.engine.work(performance.now() + workTime.quiet))
  }

  close(): void {
    this.#layers.clear()
    this.vectors?.close()
    this.parts.engine.close()
    this.parts.store.close()
  }

  /** Changes the index in a transaction and sets its stamp. Switches the engine if the size requires it. @throws {StaleIndex} */
  #change<Result>(work: (writer: PageWriter) => Result, newStamp: string = randomUUID()): Result {
    this.#layers.clear()
    const { engine, store, catalog } = this.parts
    const writer = new PageWriter(this.parts)
    const result = this.#transaction(() => {
      const done = work(writer)
      engine.commit()
      engine.work(performance.now() + workTime.change + workTime.chunk * writer.changedChunks)
      catalog.save()
      store.setStamp(newStamp, catalog.pageCount)
      return done
    })
    this.unsavedChunks += writer.changedChunks
    this.stamp = newStamp
    const fitting = fittingEngine(this.options, this.parts, engine.termsInMemory)
    if (fitting !== this.engine) {
      engine.close()
      this.engine = fitting
      this.parts = { ...this.parts, engine: openEngine(fitting, this.parts, this.#directory) }
    }
    return result
  }

  /** Runs work in a transaction. @throws {StaleIndex} if another process has changed the index */
  #transaction<Result>(work: () => Result): Result {
    return this.parts.store.transaction(() => {
      if (!this.isCurrent) throw new StaleIndex()
      return work()
    })
  }
}

type StoredParts = Pick<IndexParts, 'store' | 'catalog'>

/** Returns the engine for the size of an index, and notes in the store whether the index outgrew the memory. */
function fittingEngine(
  { engine }: IndexOptions,
  { catalog: { chunkCount }, store }: StoredParts,
  termCount: number,
): Engine {
  if (engine !== 'auto') return engine
  const outgrownAt = store.outgrownAt()
  if (outgrownAt !== undefined && chunkCount > outgrownAt / 2) return 'segments'
  const isOutgrown = chunkCount > maxInMemory.chunks || termCount > maxInMemory.terms
  if (isOutgrown || outgrownAt !== undefined) store.noteOutgrown(isOutgrown ? chunkCount : undefined)
  return isOutgrown ? 'segments' : 'minisearch'
}

/** Opens the catalog. Renumbers pages and chunks first if most ids are unused. */
function openCatalog(store: IndexStore): Catalog {
  const stamp = store.stamp()
  const catalog = new Catalog(store)
  if (!isSparse({ catalog, store })) return catalog
  store.transaction(() => {
    if (store.stamp() === stamp) renumber(catalog, store)
  })
  return new Catalog(store)
}

function openEngine(name: Engine, { catalog, store }: StoredParts, directory: string): TermEngine {
  if (name === 'segments') {
    return store.transaction(() => new SegmentEngine(catalog, store, new SegmentLog(catalog, store, directory)))
  }
  store.transaction(() => SegmentEngine.drop(store, directory))
  return new MiniSearchEngine(catalog, store, join(directory, snapshotFile))
}

function analysed(pages: readonly IndexedDocument[], { analyser }: Pick<IndexParts, 'analyser'>): AnalysedPage[] {
  return pages.map((page) => ({ ...page, chunks: pageTerms(page, analyser) }))
}
