import { isDamage, isOfContent } from './index/store-file.ts'
import { type IndexChanges, type IndexOptions, KbIndex } from './kb-index.ts'
import { QueryError } from './query/query-tree.ts'
import {
  type ChunkHit,
  type IndexedDocument,
  type PageHit,
  type PageHits,
  type PagePart,
  type RetrieveOptions,
  type Scope,
  type SearchOptions,
  SearchTimeout,
  StaleIndex,
} from './search-index.ts'
import { DamagedSegment } from './segments/format/segment-bytes.ts'
import { VectorsFailed } from './vectors/kb-vectors.ts'
import type { EmbeddedText, EmbeddingWork } from './vectors/vector-index.ts'

/** Which index: its folder, and how it is made. */
export type IndexAddress = { directory: string } & IndexOptions

/**
 * What an index can be asked, by the name of the method. A stamp names what it holds: whoever changes it gives it a new one,
 * and what is asked of another stamp than it has is refused.
 */
export type IndexRequests = {
  /** The pages behind a key, some at a time; see `SearchIndex`. */
  versions: { argument: { after: string }; result: VersionsPart }
  version: { argument: { key: string }; result: string | undefined }
  apply: {
    argument: { stamp: string; newStamp: string; put: readonly IndexedDocument[]; remove: readonly string[] }
    result: undefined
  }
  grow: { argument: { stamp: string; newStamp: string; part: PagePart }; result: number }
  shrink: { argument: { stamp: string; newStamp: string; key: string }; result: number }
  /** See `KbIndex`; what is asked with the name of a layer is asked of the index with that over it. */
  layOver: { argument: { stamp: string; layer: string; changes?: IndexChanges }; result: boolean }
  search: { argument: Asked & { q: string; options?: SearchOptions }; result: PageHits }
  retrieve: { argument: Asked & { question: string } & RetrieveOptions; result: ChunkHit[] }
  near: { argument: Asked & { vector: Float32Array }; result: PageHit[] }
  /** What of any stamp lacks vectors: at most `limit` texts. Where the address names no vectors, there is nothing to do. */
  nextTexts: { argument: { limit: number }; result: EmbeddingWork }
  addVectors: { argument: { vectors: EmbeddedText[] }; result: undefined }
  sweepVectors: { argument: { now: number; before: number }; result: undefined }
  close: { argument: undefined; result: undefined }
}
type Asked = { stamp: string; scope: Scope; layer?: string | undefined }
export type IndexRequest = {
  [Method in keyof IndexRequests]: {
    address: IndexAddress
    method: Method
    argument: IndexRequests[Method]['argument']
  }
}[keyof IndexRequests]

/** `isLast`: no pages are behind these. */
type VersionsPart = { stamp: string; versions: [key: string, version: string][]; isLast: boolean }

const nothingToEmbed: EmbeddingWork = { texts: [], embedded: 0, lacking: 0, isWhole: true }

/** Chunks that indexes may hold in memory, all together: some 250 MB. */
const defaultMemoryBudget = 45_000
/** Chunks that have changed since a snapshot was saved, before another is worth its time. */
const worthSaving = 1_000
/** Pages whose versions are told at a time: of a million, they would hold up both threads. */
const maxVersions = 1_000
/** Milliseconds without a request, after which there is time for what makes indexes smaller, and fast to open. */
const defaultQuietTime = 2_000

type HostOptions = { memoryBudget?: number; quietTime?: number }

/** The open indexes of a process, within a budget of memory: those that were not asked for longest are closed. */
export class IndexHost {
  /** The least recently used first. */
  readonly #open = new Map<string, KbIndex>()
  readonly #memoryBudget: number
  readonly #quietTime: number
  #quiet: NodeJS.Timeout | undefined
  #tidying: NodeJS.Immediate | undefined

  constructor({ memoryBudget = defaultMemoryBudget, quietTime = defaultQuietTime }: HostOptions = {}) {
    this.#memoryBudget = memoryBudget
    this.#quietTime = quietTime
  }

  /** @throws {StaleIndex} @throws {QueryError} @throws {SearchTimeout} @throws SQLite's and the file system's errors. */
  handle(request: IndexRequest): unknown {
    const { directory } = request.address
    clearTimeout(this.#quiet)
    this.#quiet = setTimeout(() => this.#save(), this.#quietTime)
    if (request.method === 'close') return this.#close(directory)
    try {
      return this.#soundAnswer(request)
    } catch (error) {
      const isAnswer = [QueryError, SearchTimeout, StaleIndex, VectorsFailed].some((answer) => error instanceof answer)
      if (!isAnswer) this.#forget(directory, error)
      throw error
    }
  }

  /** A segment that proves damaged is made again when its index is opened again. */
  #soundAnswer(request: Exclude<IndexRequest, { method: 'close' }>): unknown {
    try {
      return this.#answer(request)
    } catch (error) {
      if (!(error instanceof DamagedSegment)) throw error
      this.#forget(request.address.directory, error)
      return this.#answer(request)
    }
  }

  #answer({ address, method, argument }: Exclude<IndexRequest, { method: 'close' }>): unknown {
    const index = this.#index(address)
    if (method === 'versions') return versionsOf(index, argument.after)
    if (method === 'version') return index.version(argument.key)
    if (method === 'nextTexts') return index.vectors?.next(argument.limit) ?? nothingToEmbed
    if (method === 'addVectors') return index.vectors?.add(argument.vectors)
    if (method === 'sweepVectors') return index.vectors?.sweep(argument)
    if (argument.stamp !== index.stamp) throw new StaleIndex()
    if (method === 'layOver') return index.layOver(argument.layer, argument.changes)
    if (method === 'search') return readerOf(index, argument).search(argument.q, argument.scope, argument.options)
    if (method === 'near') return readerOf(index, argument).near(argument.vector, argument.scope)
    if (method === 'retrieve') return readerOf(index, argument).retrieve(argument.question, argument.scope, argument)
    const result =
      method === 'grow'
        ? index.grow(argument.part, argument.newStamp)
        : method === 'shrink'
          ? index.shrink(argument.key, argument.newStamp)
          : index.apply(argument, argument.newStamp)
    this.#evict()
    this.#tidying ??= setImmediate(() => this.#tidy())
    return result
  }

  /** Bit by bit, so that requests are answered between. */
  #tidy(): void {
    this.#tidying = undefined
    let hasMore = false
    for (const [directory, index] of this.#open) {
      try {
        hasMore = index.work() || hasMore
      } catch (error) {
        this.#forget(directory, error)
      }
    }
    if (hasMore) this.#tidying ??= setImmediate(() => this.#tidy())
  }

  /** What is in memory may be ahead of the disk. */
  #forget(directory: string, error: unknown): void {
    this.#open.get(directory)?.close()
    this.#open.delete(directory)
    if (isDamage(error)) KbIndex.remove(directory)
  }

  #index(address: IndexAddress): KbIndex {
    const { directory } = address
    const known = this.#open.get(directory)
    const isUsable = known !== undefined && isFor(known, address) && known.isCurrent
    this.#open.delete(directory)
    if (known !== undefined && !isUsable) known.close()
    const index = known !== undefined && isUsable ? known : openIndex(address)
    this.#open.set(directory, index)
    if (index !== known) this.#evict()
    return index
  }

  /** What cannot be opened now is opened by the next request. */
  #reopen(directory: string, { options }: KbIndex): void {
    this.#close(directory)
    try {
      this.#open.set(directory, openIndex({ directory, ...options }))
    } catch {
      // It is told why.
    }
  }

  #evict(): void {
    let held = 0
    for (const index of this.#open.values()) held += index.chunksInMemory
    for (const [directory, index] of this.#open) {
      if (held <= this.#memoryBudget || this.#open.size === 1) return
      held -= index.chunksInMemory
      this.#close(directory)
    }
  }

  #close(directory: string): undefined {
    const index = this.#open.get(directory)
    this.#open.delete(directory)
    if (index === undefined) return
    if (index.unsavedChunks > 0) trySave(index)
    index.close()
  }

  #save(): void {
    for (const [directory, index] of [...this.#open]) {
      if (index.isSparse) this.#reopen(directory, index)
      else if (index.unsavedChunks >= worthSaving) trySave(index)
    }
  }
}

function readerOf(index: KbIndex, { layer }: Pick<Asked, 'layer'>): Pick<KbIndex, 'search' | 'retrieve' | 'near'> {
  return layer === undefined ? index : index.withLayer(layer)
}

function versionsOf(index: KbIndex, after: string): VersionsPart {
  const versions = index.versions(after, maxVersions)
  return { stamp: index.stamp, versions, isLast: versions.length < maxVersions }
}

function isFor({ options }: KbIndex, { language, engine, vectors }: IndexAddress): boolean {
  const isSame = options.vectors?.file === vectors?.file && options.vectors?.model === vectors?.model
  return options.language === language && options.engine === engine && isSame
}

/** What its file holds is no reason for it not to open: that is dropped. */
function openIndex({ directory, ...options }: IndexAddress): KbIndex {
  try {
    return new KbIndex(directory, options)
  } catch (error) {
    if (!isOfContent(error)) throw error
    KbIndex.remove(directory)
    return new KbIndex(directory, options)
  }
}

/** It only makes the next opening fast, which the disk may be too full for. */
function trySave(index: KbIndex): void {
  try {
    index.save()
  } catch {
    // The next one may succeed.
  }
}
