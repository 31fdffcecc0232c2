import { randomUUID } from 'node:crypto'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Chunk } from '../rules/neurons/chunk.ts'
import { answerQuery } from './answer/answer-query.ts'
import { nearPages } from './answer/near-pages.ts'
import { packPassages } from './answer/pack-passages.ts'
import { Catalog } from './index/catalog.ts'
import { Deadline } from './index/deadline.ts'
import { IndexStore } from './index/index-store.ts'
import { pageTerms } from './index/page-terms.ts'
import { PageWriter } from './index/page-writer.ts'
import { isSparse, renumber } from './index/renumber.ts'
import { removeFile } from './index/store-file.ts'
import type { TermEngine } from './index/term-engine.ts'
import { MiniSearchEngine } from './minisearch/minisearch-engine.ts'
import { parseQuery } from './query/parse-query.ts'
import { Synonyms } from './query/synonyms.ts'
import { type FeedbackParameters, feedbackParameters } from './rank/relevance-feedback.ts'
import { retrieveChunks } from './rank/retrieve-chunks.ts'
import {
  type ChunkHit,
  type Engine,
  type IndexedDocument,
  type PageHit,
  type PageHits,
  type PagePart,
  type RetrieveOptions,
  type Scope,
  type SearchIndex,
  type SearchOptions,
  StaleIndex,
} from './search-index.ts'
import { SegmentEngine } from './segments/segment-engine.ts'
import { SegmentFiles } from './segments/segment-files.ts'
import { type Analyser, analyserFor } from './text/analyser.ts'
import { KbVectors, type VectorsAddress } from './vectors/kb-vectors.ts'

/** Milliseconds of CPU time that a query may take, and a question. */
const timeLimits = { query: 250, question: 1000 }
/** Milliseconds that a quiet moment is used to tidy up; and a change, besides, by how many chunks come or go. */
const workTime = { quiet: 5, change: 0.5, chunk: 0.1 }
/** `auto` keeps the postings in memory up to so many chunks and different terms, and again from half of the chunks down. */
const maxInMemory = { chunks: 2_000, terms: 100_000 }
/** Bytes of vectors that take as much memory as one chunk's postings. */
const bytesPerChunk = 5_500
/** Chunks whose postings are on disk, and that take as much memory as one whose postings are not. */
const chunksOnDisk = 100
/** Different terms that take as much memory as one chunk. */
const termsPerChunk = 15

/** Of an index in its folder. */
export const storeFile = 'search.db'
const snapshotFile = 'search.json'

export type IndexOptions = {
  /** BCP 47: decides how words are analysed. */
  language: string
  engine: Engine | 'auto'
  /** Absent: words only. */
  vectors?: VectorsAddress | undefined
}

/** The index of one knowledge base, in a folder of its own. Where {@link apply} throws, it must be closed and opened anew. */
export class KbIndex implements SearchIndex {
  readonly #analyser: Analyser
  readonly #store: IndexStore
  readonly #catalog: Catalog
  readonly #directory: string
  readonly options: IndexOptions
  /** Undefined where words only count. */
  readonly vectors: KbVectors | undefined
  #engine: { name: Engine; terms: TermEngine }
  #stamp: string
  #synonyms: { made: string; table: Synonyms } | undefined
  readonly #writer: PageWriter

  constructor(directory: string, options: IndexOptions) {
    this.options = options
    mkdirSync(directory, { recursive: true })
    this.#analyser = analyserFor(options.language)
    this.#store = new IndexStore(join(directory, storeFile), this.#analyser.version)
    this.#directory = directory
    try {
      this.#catalog = this.#openCatalog()
      this.#stamp = this.#store.stamp()
      this.vectors = options.vectors && new KbVectors(options.vectors, this.#store, this.#catalog)
      this.#writer = new PageWriter(this.#store, this.#catalog, this.#analyser)
      this.#engine = this.#openEngine(this.#fitting(0))
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

  /** Whether it takes less memory when it is opened again. */
  get isSparse(): boolean {
    return isSparse(this.#catalog, this.#store)
  }

  get engine(): Engine {
    return this.#engine.name
  }

  /** Chunks whose postings are in memory; and one more for as many different terms, or bytes of vectors, as take its memory. */
  get chunksInMemory(): number {
    const ofVectors = Math.floor((this.vectors?.size ?? 0) / bytesPerChunk)
    if (this.engine !== 'minisearch') return ofVectors + Math.floor(this.#catalog.chunkCount / chunksOnDisk)
    return ofVectors + this.#catalog.chunkCount + Math.floor(this.#engine.terms.termsInMemory / termsPerChunk)
  }

  /** Chunks that came or went since {@link save}. */
  get unsavedChunks(): number {
    return this.#writer.changedChunks
  }

  /** Names what the index holds: another one after every change. */
  get stamp(): string {
    return this.#stamp
  }

  /** Whether nobody else has changed what is on the disk. */
  get isCurrent(): boolean {
    return this.#store.stamp() === this.#stamp
  }

  versions(after: string, limit: number): [key: string, version: string][] {
    return this.#store.versions(after, limit)
  }

  version(key: string): string | undefined {
    return this.#store.find(key)?.version
  }

  apply(
    { put, remove }: { put: readonly IndexedDocument[]; remove: readonly string[] },
    newStamp: string = randomUUID(),
  ): void {
    const keys = new Set([...remove, ...put.map(({ key }) => key)])
    const pages = put.map((page) => ({ ...page, chunks: pageTerms(page, this.#analyser) }))
    this.#change(newStamp, (engine) => {
      for (const key of keys) {
        const page = this.#store.find(key)
        if (page !== undefined) this.#writer.remove(this.#catalog.stored(page), engine)
      }
      for (const page of pages) this.#writer.add(page, engine)
    })
  }

  grow(part: PagePart, newStamp: string = randomUUID()): number {
    let held = 0
    this.#change(newStamp, (engine) => {
      held = this.#writer.grow(part, engine)
    })
    return held
  }

  shrink(key: string, newStamp: string = randomUUID()): number {
    let left = 0
    this.#change(newStamp, (engine) => {
      left = this.#writer.shrink(key, engine)
    })
    return left
  }

  search(q: string, scope: Scope, { isTyped = false, hasFacets = false, synonyms = [] }: SearchOptions = {}): PageHits {
    const parsed = parseQuery(q, this.#analyser, { isTyped, synonyms: this.#synonymsOf(synonyms) })
    if (parsed === undefined) return { hits: [], total: 0, matched: 'all' }
    const deadline = new Deadline(timeLimits.query)
    return this.#store.reading(() => answerQuery(q, parsed, this.#parts, { scope, hasFacets, deadline }))
  }

  /** @param options.feedback others than the chosen parameters are for measurements. */
  retrieve(
    question: string,
    scope: Scope,
    {
      reach = 'chunk',
      packing,
      vector,
      synonyms = [],
      filters = [],
      feedback = feedbackParameters,
    }: RetrieveOptions & { feedback?: FeedbackParameters } = {},
  ): ChunkHit[] {
    const near = vector && ((among: { pages: Uint8Array }) => this.vectors?.near(vector, among))
    const limit = new Deadline(timeLimits.question)
    const table = this.#synonymsOf(synonyms)
    return this.#store.reading(() => {
      const hits = retrieveChunks(question, this.#parts, {
        ...{ scope, reach, limit, filters, near, synonyms: table, feedback },
      })
      const pageOf = (key: string) => this.#store.find(key)?.id ?? 0
      const reading = {
        language: this.options.language,
        analyser: this.#analyser,
        titleOf: (key: string) => this.#store.title(pageOf(key)),
        chunkAt: (key: string, ordinal: number) => this.#chunkAt(pageOf(key), ordinal),
      }
      return packing === undefined ? hits : packPassages(hits, packing, reading)
    })
  }

  near(vector: Float32Array, scope: Scope): PageHit[] {
    return this.#store.reading(() => {
      const nearness = this.vectors?.near(vector, this.#catalog.visible(scope))
      const { offset = 0, limit } = scope
      return nearness === undefined ? [] : nearPages(nearness, offset + limit, this.#parts).slice(offset)
    })
  }

  save(): void {
    this.#store.transaction(() => {
      if (!this.isCurrent) throw new StaleIndex()
      this.#engine.terms.save()
    })
    this.#writer.changedChunks = 0
  }

  /** Tidies up for some milliseconds. @returns whether there is more to do. @throws {StaleIndex} */
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
    this.vectors?.close()
    this.#engine.terms.close()
    this.#store.close()
  }

  /** What answers are made from. */
  get #parts() {
    return { analyser: this.#analyser, engine: this.#engine.terms, store: this.#store, catalog: this.#catalog }
  }

  #chunkAt(page: number, ordinal: number): Chunk | undefined {
    const { from, to } = this.#catalog.chunkRange(page)
    const id = from + ordinal
    return ordinal < 0 || id >= to ? undefined : this.#store.chunks.chunk(id)
  }

  /** Analysed once for as long as they are the same. */
  #synonymsOf(groups: readonly (readonly string[])[]): Synonyms {
    const made = JSON.stringify(groups)
    if (this.#synonyms?.made !== made) this.#synonyms = { made, table: new Synonyms(groups, this.#analyser) }
    return this.#synonyms.table
  }

  /** @throws {StaleIndex} */
  #change(newStamp: string, work: (engine: TermEngine) => void): void {
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
    this.#stamp = newStamp
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

  /** With ids that have few gaps. */
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
        terms = new SegmentEngine(this.#catalog, this.#store, this.#directory)
      })
    } else {
      this.#store.transaction(() => SegmentEngine.drop(this.#store, this.#directory))
    }
    terms ??= new MiniSearchEngine(this.#catalog, this.#store, join(this.#directory, snapshotFile))
    return { name, terms }
  }
}
