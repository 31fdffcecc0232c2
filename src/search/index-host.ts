import { isDamage, openOrReplace } from './index/store-file.ts'
import type { IndexReader } from './index-reader.ts'
import { type IndexChanges, type IndexOptions, KbIndex } from './kb-index.ts'
import { QueryError } from './query/query-tree.ts'
import {
  type PagePart,
  type RetrieveOptions,
  type Scope,
  type SearchOptions,
  SearchTimeout,
  StaleIndex,
} from './search-index.ts'
import { DamagedSegment } from './segments/format/segment-bytes.ts'
import { type EmbeddedText, type EmbeddingWork, VectorsFailed } from './vectors/vector-index.ts'

/** Folder of an index, and its options. */
export type IndexAddress = { directory: string } & IndexOptions

type Asked = { stamp: string; scope: Scope; layer?: string | undefined }
type Change = { stamp: string; newStamp: string }

const nothingToEmbed: EmbeddingWork = { texts: [], embedded: 0, lacking: 0, isWhole: true }

/**
 * Answers to the requests to an index, by method. A stamp identifies the state of an index: each change sets a new one, and a
 * request with another stamp fails with `StaleIndex`. Requests with the name of a layer see the index with that layer.
 */
const answers = {
  /** Lists pages after a key with their versions, in parts. `isLast`: there are no more. */
  versions(index: KbIndex, { after }: { after: string }) {
    const versions = index.versions(after, maxVersions)
    return { stamp: index.stamp, versions, isLast: versions.length < maxVersions }
  },
  version: (index: KbIndex, { key }: { key: string }) => index.version(key),
  apply: (index: KbIndex, { newStamp, ...changes }: Change & IndexChanges) => index.apply(changes, newStamp),
  grow: (index: KbIndex, { newStamp, part }: Change & { part: PagePart }) => index.grow(part, newStamp),
  shrink: (index: KbIndex, { newStamp, key }: Change & { key: string }) => index.shrink(key, newStamp),
  layOver(index: KbIndex, { layer, changes }: { stamp: string; layer: string; changes?: IndexChanges }) {
    return index.layOver(layer, changes)
  },
  search(index: KbIndex, { q, scope, options, layer }: Asked & { q: string; options?: SearchOptions }) {
    return readerOf(index, layer).search(q, scope, options)
  },
  retrieve(index: KbIndex, { question, scope, layer, ...options }: Asked & { question: string } & RetrieveOptions) {
    return readerOf(index, layer).retrieve(question, scope, options)
  },
  near(index: KbIndex, { vector, scope, layer }: Asked & { vector: Float32Array }) {
    return readerOf(index, layer).near(vector, scope)
  },
  /** Returns at most `limit` texts without a vector, for any stamp. None if the address has no vectors. */
  nextTexts: (index: KbIndex, { limit }: { limit: number }) => index.vectors?.next(limit) ?? nothingToEmbed,
  addVectors: (index: KbIndex, { vectors }: { vectors: EmbeddedText[] }) => index.vectors?.add(vectors),
  sweepVectors: (index: KbIndex, times: { now: number; before: number }) => index.vectors?.sweep(times),
}
type Answers = typeof answers
export type IndexRequests = {
  [Method in keyof Answers]: { argument: Parameters<Answers[Method]>[1]; result: ReturnType<Answers[Method]> }
} & { close: { argument: undefined; result: undefined } }
export type IndexRequest = {
  [Method in keyof IndexRequests]: {
    address: IndexAddress
    method: Method
    argument: IndexRequests[Method]['argument']
  }
}[keyof IndexRequests]
type AnsweredRequest = Exclude<IndexRequest, { method: 'close' }>

/** Maximum chunks in the memory of all indexes together: some 250 MB. */
const defaultMemoryBudget = 45_000
/** Minimum chunks changed since the last snapshot to save another one. */
const worthSaving = 1_000
/** Maximum pages in one answer of `versions`: a million at once would block both threads. */
const maxVersions = 1_000
/** Milliseconds without a request after which indexes are compacted and snapshots saved. */
const defaultQuietTime = 2_000

type HostOptions = { memoryBudget?: number; quietTime?: number }

/** The open indexes of a process, within a budget of memory. The least recently used are closed first. */
export class IndexHost {
  /** Open indexes by folder, least recently used first. */
  readonly #open = new Map<string, KbIndex>()
  readonly #memoryBudget: number
  readonly #quietTime: number
  #quiet: NodeJS.Timeout | undefined
  #tidying: NodeJS.Immediate | undefined

  constructor({ memoryBudget = defaultMemoryBudget, quietTime = defaultQuietTime }: HostOptions = {}) {
    this.#memoryBudget = memoryBudget
    this.#quietTime = quietTime
  }

  /** Answers a request. @throws {StaleIndex} @throws {QueryError} @throws {SearchTimeout} @throws errors of SQLite and the file system */
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

  /** Reopens the index once if a segment is damaged: opening rebuilds the segment. */
  #soundAnswer(request: AnsweredRequest): unknown {
    try {
      return this.#answer(request)
    } catch (error) {
      if (!(error instanceof DamagedSegment)) throw error
      this.#forget(request.address.directory, error)
      return this.#answer(request)
    }
  }

  #answer({ address, method, argument }: AnsweredRequest): unknown {
    const index = this.#index(address)
    if ('stamp' in argument && argument.stamp !== index.stamp) throw new StaleIndex()
    const answer = answers[method] as (index: KbIndex, argument: AnsweredRequest['argument']) => unknown
    const result = answer(index, argument)
    if ('newStamp' in argument) {
      this.#evict()
      this.#tidying ??= setImmediate(() => this.#tidy())
    }
    return result
  }

  /** Merges segments in small steps, so that requests are answered in between. */
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

  /** Closes an index after an error: its memory may be ahead of the disk. */
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

  /** Reopens an index to compact it. If that fails, the next request opens it. */
  #reopen(directory: string, { options }: KbIndex): void {
    this.#close(directory)
    try {
      this.#open.set(directory, openIndex({ directory, ...options }))
    } catch {
      // The next request reports the error.
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

function readerOf(index: KbIndex, layer: string | undefined): IndexReader {
  return layer === undefined ? index : index.withLayer(layer)
}

function isFor({ options }: KbIndex, { language, engine, vectors }: IndexAddress): boolean {
  const isSame = options.vectors?.file === vectors?.file && options.vectors?.model === vectors?.model
  return options.language === language && options.engine === engine && isSame
}

/** Opens an index. Deletes and recreates one whose file cannot be read. */
function openIndex({ directory, ...options }: IndexAddress): KbIndex {
  const open = () => new KbIndex(directory, options)
  return openOrReplace(open, () => KbIndex.remove(directory))
}

/** Saves a snapshot, which only speeds up the next opening. Fails silently, e.g. on a full disk. */
function trySave(index: KbIndex): void {
  try {
    index.save()
  } catch {
    // The next attempt may succeed.
  }
}
