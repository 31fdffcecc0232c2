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
import type { VectorsAddress } from '../vectors/kb-vectors.ts'
import { indexFingerprint } from './fingerprint.ts'
import { neuronDocument, versionOf } from './neuron-document.ts'
import type { SearchedSources } from './source-feed.ts'

/** Neurons that the index takes in at a time, and the characters that are enough for once; queries are answered between. */
const batchSize = 50
const batchLength = 512 * 1024
/** Milliseconds that a query should wait for a batch: on a busy machine, batches become smaller. */
const batchTime = 1_000
const leastShare = 0.2
/** Characters of a Source beyond which no query waits for it, and the chunks of one that the index takes in at a time. */
const maxAwaited = 256 * 1024
const partSize = 64
/** How often something is tried that other changes to the index can make void. */
const maxAttempts = 3

export type FollowerOptions = {
  pool: SearchPool
  parser: ParserPool
  directory: string
  sources: SearchedSources
  /** Without them, search knows words only. */
  vectors?: VectorsAddress | undefined
}

/** Keeps the search index of an open knowledge base in step with its projection and its Sources. */
export class IndexFollower {
  readonly #kb: ReadableKb
  readonly #pool: SearchPool
  readonly #parser: ParserPool
  readonly #directory: string
  readonly #sources: SearchedSources
  readonly #vectors: VectorsAddress | undefined
  #isClosed = false
  #updatingSince: number | undefined
  /** Where the index is, once it is known what it lacks: then it can be asked. */
  #usable: IndexAddress | undefined
  #begun = Promise.withResolvers<void>()
  /** What the index is to take in, in this order, and how much of it it has. */
  #lacking: { keys: readonly string[]; taken: number } = { keys: [], taken: 0 }
  /** Neurons that there were when the index was last compared with them. */
  #pages = 0
  /** What the index stands for; undefined where only the index itself can tell. */
  #followed: { main: string | undefined; inlineTags: boolean; sources: string; address: IndexAddress } | undefined
  #stamp = ''
  /** What there was when the index was brought up to it last; see {@link currentState}. */
  #seen: { projection: number; sources: number } | undefined
  /** Whoever changes the index, or asks what it holds, has a turn: the stamp would not fit otherwise. */
  readonly #turns = new KeyedLock()
  /** The keys of Sources that are too big to be waited for, and the work on them. */
  readonly #big = new Set<string>()
  #takingBig: Promise<void> | undefined

  constructor(kb: ReadableKb, { pool, parser, directory, sources, vectors }: FollowerOptions) {
    this.#kb = kb
    this.#pool = pool
    this.#parser = parser
    this.#directory = directory
    this.#sources = sources
    this.#vectors = vectors
  }

  /** Brings the index up to the projection as it is now, and to the Sources but for big ones, which it begins with. */
  readonly follow = coalesce(async () => {
    this.#updatingSince = performance.now()
    try {
      await unlessStale(() => this.#inTurn(() => this.#follow()))
    } finally {
      this.#updatingSince = undefined
    }
    if (this.#big.size > 0) this.#takingBig ??= this.#takeBig()
  })

  /** Where the index is, as the settings are now. */
  async address(): Promise<IndexAddress> {
    const { language, searchEngine: engine } = await this.#kb.settings()
    return { directory: this.#directory, language, engine, vectors: this.#vectors }
  }

  /** Where the index is, once it can be asked, complete or not. */
  get usable(): IndexAddress | undefined {
    return this.#usable
  }

  /** Resolves as soon as it can be asked, but for what is distrusted meanwhile. */
  get begun(): Promise<void> {
    return this.#begun.promise
  }

  /** The keys of some pages that the update that is under way has still to bring, the next ones first. */
  lacking(max: number): readonly string[] {
    const { keys, taken } = this.#lacking
    return keys.slice(taken, taken + max)
  }

  /** True while the index lacks more than half of the pages, as before it is built first. */
  get lacksMost(): boolean {
    const { keys, taken } = this.#lacking
    return 2 * (keys.length - taken) > this.#pages
  }

  /** What the index holds after all that was sent to it; see `IndexRequests`. */
  get stamp(): string {
    return this.#stamp
  }

  /**
   * Names main and what the index holds, if the index surely stands for all that there is now: another name after every change of
   * either. Otherwise it has to {@link follow} first.
   */
  get currentState(): string | undefined {
    if (this.#followed === undefined || this.#updatingSince !== undefined) return undefined
    const { projection, sources } = this.#now()
    const isCurrent = this.#seen?.projection === projection && this.#seen.sources === sources
    return isCurrent ? `${this.#stamp} ${this.#followed.main}` : undefined
  }

  /** When the update that is under way began, on the clock of `performance.now`. */
  get updatingSince(): number | undefined {
    return this.#updatingSince
  }

  /** Looks at the index anew the next time, unless it was changed since it had this stamp. */
  distrust(stamp: string | undefined): void {
    if (stamp !== this.#stamp) return
    this.#followed = undefined
    this.#beginAnew()
  }

  /** Lets what is under way come to a quick end. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#pool.turns.ask(this.#directory)
    await Promise.all([this.follow(), this.#takingBig])
  }

  async #follow(): Promise<void> {
    if (this.#isClosed) return
    const now = this.#now()
    const { read: sql } = this.#kb.projection
    const { main } = this.#kb.projection.heads(sql)
    const address = await this.address()
    const sources = await this.#sources.mark()
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
    this.#usable = address
    this.#begun.resolve()
    if (!(await this.#applyAll(address))) return
    this.#followed = { main, inlineTags, sources, address }
    this.#seen = now
  }

  #beginAnew(): void {
    // Who waits for it already goes on waiting.
    if (this.#usable !== undefined) this.#begun = Promise.withResolvers()
    this.#usable = undefined
  }

  /** Numbers that change with what the index is made from. */
  #now(): { projection: number; sources: number } {
    return { projection: this.#kb.projection.revision(), sources: this.#sources.changes() }
  }

  /** The keys of which the index holds another version than there is now, or that only one of the two holds. */
  async #differences(address: IndexAddress): Promise<string[]> {
    const { stamp, versions } = await this.#pool.versions(address)
    this.#stamp = stamp
    const neurons: string[] = []
    this.#pages = 0
    for (const neuron of everyNeuronVersion(this.#kb.projection.read)) {
      this.#pages++
      if (versions.get(neuron.seqId) !== versionOf(neuron)) neurons.push(neuron.seqId)
      versions.delete(neuron.seqId)
    }
    const sources: string[] = []
    for (const [key, version] of await this.#sources.versions()) {
      if (versions.get(key) !== version) sources.push(key)
      versions.delete(key)
    }
    // The newest come first: most is asked of them.
    return [...versions.keys(), ...neurons.reverse(), ...sources]
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#turns.run('', work)
  }

  /** Reads pages while the index takes in those before them. @returns false where it was closed on the way. */
  async #applyAll(address: IndexAddress): Promise<boolean> {
    const pause = pauses()
    const { keys } = this.#lacking
    let next = 0
    let [earlier, last] = [Promise.resolve(), Promise.resolve()]
    let share = 1
    let release: (() => void) | undefined
    try {
      while (next < keys.length) {
        // Where many knowledge bases are indexed, each is so batch by batch.
        release = await this.#pool.turns.take(this.#directory)
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
          // A page that is divided without a thread is so at once.
          await pause()
          const candidates = () => candidatesOf(this.#kb.projection.read, key)
          const document = neuronDocument(neuron, { text, candidates }, this.#parser)
          document.catch(() => undefined) // told to whoever waits for the batch; once closed, nobody does
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
        last.catch(() => undefined) // told at the end
        // Two batches are on their way at most.
        await earlier
        earlier = before
      }
    } finally {
      release?.()
      // Each changes the stamp.
      await last
    }
    return true
  }

  /**
   * Sends a change to the index at once: what is asked from now on is answered after it. A change that cannot be stored leaves the index
   * and its stamp as they were.
   */
  async #change<Method extends 'apply' | 'grow' | 'shrink'>(
    address: IndexAddress,
    method: Method,
    argument: Omit<IndexRequests[Method]['argument'], 'stamp' | 'newStamp'>,
  ): Promise<IndexRequests[Method]['result']> {
    const [stamp, newStamp] = [this.#stamp, randomUUID()]
    this.#stamp = newStamp
    try {
      const sent = { ...argument, stamp, newStamp } as IndexRequests[Method]['argument']
      return await this.#pool.ask(address, method, sent)
    } catch (error) {
      if (isUnstorable(error) && this.#stamp === newStamp) this.#stamp = stamp
      throw error
    }
  }

  /** A Source to be put; none that is gone, or is too big and is begun with, as is one whose text is out of reach. */
  async #source(address: IndexAddress, key: string): Promise<Promise<IndexedDocument>[]> {
    let source: Awaited<ReturnType<SearchedSources['document']>>
    try {
      source = await this.#sources.document(key)
    } catch {
      this.#big.add(key)
      return []
    }
    const isBig = source !== undefined && source.length > maxAwaited
    const isGone = !isBig && (await this.#change(address, 'shrink', { key })) === 0
    if (!isGone) this.#big.add(key)
    return isGone && source !== undefined ? [source.read()] : []
  }

  /** Big Sources, one after the other. What fails is tried again with the next that is followed. */
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

  /** Part by part, between which the index answers queries. */
  async #takeSource(key: string): Promise<void> {
    const source = await this.#sources.document(key)
    const held = await this.#pool.ask(await this.address(), 'version', { key })
    if (this.#isClosed || held === source?.version) return
    const document = await source?.read()
    const total = document?.chunks.length ?? 0
    const fingerprint = document === undefined ? '' : indexFingerprint(document)
    // What is in the way is taken out first, so that the count can fall, too.
    for (let [count, goal] = [document === undefined ? 1 : 0, total]; count !== goal && !this.#isClosed; ) {
      count = await this.#inTurn(async () => {
        const address = await this.address()
        if (document === undefined) return this.#change(address, 'shrink', { key })
        // It may have been archived, or read again, since: then it is looked at anew.
        const isLast = count + partSize >= total
        if (isLast && (await this.#sources.versions()).get(key) !== document.version) {
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

/** The index can change between two steps: another process may write to it or replace it. */
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
