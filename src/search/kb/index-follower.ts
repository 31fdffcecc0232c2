import { randomUUID } from 'node:crypto'
import { GanglionError } from '../../contract/errors.ts'
import { isUnstorable } from '../../kb/failure.ts'
import { hasInlineTags } from '../../kb/projection/neuron-index.ts'
import { everyNeuronVersion, findNeuron } from '../../kb/projection/neuron-queries.ts'
import { candidatesOf, changedSince } from '../../kb/projection/version-queries.ts'
import type { ReadableKb } from '../../kb/readable-kb.ts'
import type { ParserPool } from '../../markdown/pool/parser-pool.ts'
import { isUuid } from '../../rules/candidates/candidate-id.ts'
import { coalesce } from '../../system/concurrency/coalesce.ts'
import { KeyedLock } from '../../system/concurrency/keyed-lock.ts'
import { pauses } from '../../system/pauses.ts'
import type { IndexAddress, IndexRequests } from '../index-host.ts'
import { type IndexedDocument, StaleIndex } from '../search-index.ts'
import type { SearchPool } from '../search-pool.ts'
import type { VectorsAddress } from '../vectors/vector-index.ts'
import { neuronDocument, versionOf } from './neuron-document.ts'
import { indexFingerprint, type SearchedSources } from './source-feed.ts'

/** Maximum Neurons of a batch, and characters at which a batch is full. Queries are answered between batches. */
const batchSize = 50
const batchLength = 512 * 1024
/** Target duration of a batch, in milliseconds. On a busy machine, batches become smaller. */
const batchTime = 1_000
const leastShare = 0.2
/** Maximum characters of a Source that queries wait for, and chunks of a larger one that are indexed at a time. */
const maxAwaited = 256 * 1024
const partSize = 64
/** Maximum attempts while other processes change the index. */
const maxAttempts = 3

export type FollowerOptions = {
  pool: SearchPool
  parser: ParserPool
  directory: string
  sources: SearchedSources
  /** Location of the vectors. Absent if search uses words alone. */
  vectors?: VectorsAddress | undefined
}

/** Keeps the search index of an open knowledge base up to date with its projection and its Sources. */
export class IndexFollower {
  readonly #kb: ReadableKb
  readonly #options: FollowerOptions
  #isClosed = false
  /** Start of the current update, by `performance.now`. */
  updatingSince: number | undefined
  /** Address of the index once it can be queried, complete or not. */
  usable: IndexAddress | undefined
  #begun = Promise.withResolvers<void>()
  /** Keys to be indexed, in order, and the number of them already indexed. */
  #lacking: { keys: readonly string[]; taken: number } = { keys: [], taken: 0 }
  /** Number of Neurons at the last comparison with the index. */
  #pages = 0
  /** State that the index reflects; undefined if the index must be compared. */
  #followed: { main: string | undefined; inlineTags: boolean; sources: string; address: IndexAddress } | undefined
  /** Stamp of the index after all changes sent to it; see `IndexRequests`. */
  stamp = ''
  /** Revisions at the last update; see {@link currentState}. */
  #seen: { projection: number; sources: number } | undefined
  /** Serialises changes and comparisons of the index, so that the stamp stays consistent. */
  readonly #turns = new KeyedLock()
  /** Keys of Sources that are too large to wait for, and the work on them. */
  readonly #big = new Set<string>()
  #takingBig: Promise<void> | undefined

  constructor(kb: ReadableKb, options: FollowerOptions) {
    this.#kb = kb
    this.#options = options
  }

  /** Updates the index to the current projection and Sources; large Sources are only started. */
  readonly follow = coalesce(async () => {
    this.updatingSince = performance.now()
    try {
      await unlessStale(() => this.#inTurn(() => this.#follow()))
    } finally {
      this.updatingSince = undefined
    }
    if (this.#big.size > 0) this.#takingBig ??= this.#takeBig()
  })

  /** Returns the address of the index under the current settings. */
  async address(): Promise<IndexAddress> {
    const { language, searchEngine: engine } = await this.#kb.settings()
    const { directory, vectors } = this.#options
    return { directory, language, engine, vectors }
  }

  /** Resolves when the index can be queried. */
  get begun(): Promise<void> {
    return this.#begun.promise
  }

  /** Returns at most `max` keys that the current update has yet to index, next ones first. */
  lacking(max: number): readonly string[] {
    const { keys, taken } = this.#lacking
    return keys.slice(taken, taken + max)
  }

  /** True while the index lacks more than half of the pages, as before it is first built. */
  get lacksMost(): boolean {
    const { keys, taken } = this.#lacking
    return 2 * (keys.length - taken) > this.#pages
  }

  /**
   * Identifies main and the content of the index, if the index is certainly up to date; changes with either. If undefined, call
   * {@link follow} first.
   */
  get currentState(): string | undefined {
    if (this.#followed === undefined || this.updatingSince !== undefined) return undefined
    const { projection, sources } = this.#now()
    const isCurrent = this.#seen?.projection === projection && this.#seen.sources === sources
    return isCurrent ? `${this.stamp} ${this.#followed.main}` : undefined
  }

  /** Compares the index again at the next update, unless it has changed since it had this stamp. */
  distrust(stamp: string | undefined): void {
    if (stamp !== this.stamp) return
    this.#followed = undefined
    this.#beginAnew()
  }

  /** Ends work in progress early. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#options.pool.turns.ask(this.#options.directory)
    await Promise.all([this.follow(), this.#takingBig])
  }

  async #follow(): Promise<void> {
    if (this.#isClosed) return
    const now = this.#now()
    const { read: sql } = this.#kb.projection
    const { main } = this.#kb.projection.heads(sql)
    const address = await this.address()
    const sources = await this.#options.sources.mark()
    const inlineTags = hasInlineTags(sql)
    const before = this.#followed
    const isSame =
      before?.address.language === address.language &&
      before.address.engine === address.engine &&
      before.inlineTags === inlineTags
    if (isSame && before.main === main && before.sources === sources) {
      this.#seen = now
      return
    }
    this.#followed = undefined
    if (!isSame) this.#beginAnew()
    const isContinued = isSame && before.main !== undefined && before.sources === sources
    const changed = isContinued && before.main !== undefined ? changedSince(sql, before.main) : undefined
    this.#lacking = { keys: changed ?? (await this.#differences(address)), taken: 0 }
    this.usable = address
    this.#begun.resolve()
    if (!(await this.#applyAll(address))) return
    this.#followed = { main, inlineTags, sources, address }
    this.#seen = now
  }

  #beginAnew(): void {
    // Callers that already wait keep their promise.
    if (this.usable !== undefined) this.#begun = Promise.withResolvers()
    this.usable = undefined
  }

  /** Returns numbers that change with the projection and the Sources. */
  #now(): { projection: number; sources: number } {
    return { projection: this.#kb.projection.revision(), sources: this.#options.sources.changes() }
  }

  /** Returns the keys with different versions in the index and in the knowledge base, or in one of the two alone. */
  async #differences(address: IndexAddress): Promise<string[]> {
    const { stamp, versions } = await this.#options.pool.versions(address)
    this.stamp = stamp
    const neurons: string[] = []
    this.#pages = 0
    for (const neuron of everyNeuronVersion(this.#kb.projection.read)) {
      this.#pages++
      if (versions.get(neuron.seqId) !== versionOf(neuron)) neurons.push(neuron.seqId)
      versions.delete(neuron.seqId)
    }
    const sources: string[] = []
    for (const [key, version] of await this.#options.sources.versions()) {
      if (versions.get(key) !== version) sources.push(key)
      versions.delete(key)
    }
    // Newest first: they are searched most.
    return [...versions.keys(), ...neurons.reverse(), ...sources]
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#turns.run('', work)
  }

  /** Reads pages while the index takes in those before them. @returns false if it was closed meanwhile */
  async #applyAll(address: IndexAddress): Promise<boolean> {
    const pause = pauses()
    const { keys } = this.#lacking
    let next = 0
    let [earlier, last] = [Promise.resolve(), Promise.resolve()]
    let share = 1
    let release: (() => void) | undefined
    try {
      while (next < keys.length) {
        // Each knowledge base waits its turn for every batch when many are indexed.
        release = await this.#options.pool.turns.take(this.#options.directory)
        const put: Promise<IndexedDocument>[] = []
        const remove: string[] = []
        let length = 0
        const [most, longest] = [share * batchSize, share * batchLength]
        for (; next < keys.length && put.length + remove.length < most && length < longest; next++) {
          if (this.#isClosed) return false
          const key = keys[next] ?? ''
          const neuron = findNeuron(this.#kb.projection.read, key)
          if (neuron === undefined) {
            if (!isUuid(key)) remove.push(key)
            else put.push(...(await this.#source(address, key)))
            length += longest
            continue
          }
          const text = await this.#kb.repository.readTextOnce(neuron.blob)
          length += text.length
          // Dividing a page blocks if there is no parser thread, so other work runs first.
          await pause()
          const candidates = () => candidatesOf(this.#kb.projection.read, key)
          const document = neuronDocument(neuron, { text, candidates }, this.#options.parser)
          document.catch(() => undefined) // reported with the batch, or by nobody once this is closed
          put.push(document)
        }
        const [before, taken, end] = [last, next, release]
        release = undefined
        last = Promise.all([Promise.all(put), before])
          .then(async ([documents]) => {
            const began = performance.now()
            await this.#change(address, 'apply', { put: documents, remove })
            share = Math.min(1, Math.max(leastShare, (share * batchTime) / (performance.now() - began)))
            this.#lacking.taken = taken
          })
          .finally(end)
        last.catch(() => undefined) // thrown where `last` is awaited
        // At most two batches are in progress.
        await earlier
        earlier = before
      }
    } finally {
      release?.()
      // Each batch changes the stamp.
      await last
    }
    return true
  }

  /**
   * Sends a change to the index at once, ahead of later queries. If the change cannot be stored, the index and its stamp stay as
   * they were.
   */
  async #change<Method extends 'apply' | 'grow' | 'shrink'>(
    address: IndexAddress,
    method: Method,
    argument: Omit<IndexRequests[Method]['argument'], 'stamp' | 'newStamp'>,
  ): Promise<IndexRequests[Method]['result']> {
    const [stamp, newStamp] = [this.stamp, randomUUID()]
    this.stamp = newStamp
    try {
      const sent = { ...argument, stamp, newStamp } as IndexRequests[Method]['argument']
      return await this.#options.pool.ask(address, method, sent)
    } catch (error) {
      if (isUnstorable(error) && this.stamp === newStamp) this.stamp = stamp
      throw error
    }
  }

  /** Returns a Source to index. None if it was removed, is too large, or its text is out of reach; the latter two are indexed later, in parts. */
  async #source(address: IndexAddress, key: string): Promise<Promise<IndexedDocument>[]> {
    let source: Awaited<ReturnType<SearchedSources['document']>>
    try {
      source = await this.#options.sources.document(key)
    } catch {
      this.#big.add(key)
      return []
    }
    const isBig = source !== undefined && source.length > maxAwaited
    const isGone = !isBig && (await this.#change(address, 'shrink', { key })) === 0
    if (!isGone) this.#big.add(key)
    return isGone && source !== undefined ? [source.read()] : []
  }

  /** Indexes large Sources one by one. Failed ones are retried with the next update. */
  async #takeBig(): Promise<void> {
    try {
      for (const key of this.#big) {
        if (this.#isClosed) return
        this.#big.delete(key)
        await this.#takeSource(key)
      }
    } catch {
      await this.#inTurn(async () => {
        this.#followed = undefined
        this.#big.clear()
      })
    } finally {
      this.#takingBig = undefined
    }
  }

  /** Indexes a Source in parts; queries are answered in between. */
  async #takeSource(key: string): Promise<void> {
    const source = await this.#options.sources.document(key)
    const held = await this.#options.pool.ask(await this.address(), 'version', { key })
    if (this.#isClosed || held === source?.version) return
    const document = await source?.read()
    const total = document?.chunks.length ?? 0
    const fingerprint = document === undefined ? '' : indexFingerprint(document)
    // The old version is removed first, so the count can also decrease.
    for (let [count, goal] = [document === undefined ? 1 : 0, total]; count !== goal && !this.#isClosed; ) {
      count = await this.#inTurn(async () => {
        const address = await this.address()
        if (document === undefined) return this.#change(address, 'shrink', { key })
        // Starts again if the Source was archived or read again meanwhile.
        const isLast = count + partSize >= total
        if (isLast && (await this.#options.sources.versions()).get(key) !== document.version) {
          this.#big.add(key)
          return total
        }
        const chunks = document.chunks.slice(count, count + partSize)
        const part = { ...document, chunks, fingerprint, start: count, total }
        return this.#change(address, 'grow', { part })
      })
    }
  }
}

/** Repeats work while the index changes: another process may write to it or replace it. */
export async function unlessStale<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof StaleIndex)) throw error
      if (attempt === maxAttempts) throw new GanglionError('unavailable')
    }
  }
}
