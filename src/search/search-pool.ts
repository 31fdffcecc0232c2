import { Worker } from 'node:worker_threads'
import { withTimeout } from '../system/concurrency/with-timeout.ts'
import type { IndexAddress, IndexRequests } from './index-host.ts'
import { QueryError } from './query/query-tree.ts'
import { SearchTimeout, StaleIndex } from './search-index.ts'
import type { PlainError, SearchCall, SearchReply } from './search-worker.ts'

type Pending = { resolve: (result: never) => void; reject: (error: Error) => void }

const defaultHeapLimitMb = 1024
/** Milliseconds that closing waits for requests in progress. */
const closingTime = 10_000
/** The worker file has the extension of this file: `.ts` in a checkout, `.js` in the built package. */
const workerFile = new URL(`./search-worker${import.meta.url.slice(-3)}`, import.meta.url)

/**
 * Search indexes in a separate thread, so that neither indexing nor searching blocks the main thread. The thread starts with the
 * first call, and again after it has died.
 */
export class SearchPool {
  readonly #pending = new Map<number, Pending>()
  readonly #addresses = new Map<string, IndexAddress>()
  readonly #heapLimitMb: number
  readonly turns = new IndexTurns()
  #worker: Worker | undefined
  #lastId = 0
  #isClosed = false

  constructor({ heapLimitMb = defaultHeapLimitMb }: { heapLimitMb?: number } = {}) {
    this.#heapLimitMb = heapLimitMb
  }

  /**
   * Sends a request to an index, which is opened or created if needed.
   * @throws {QueryError}
   * @throws {SearchTimeout}
   * @throws {StaleIndex}
   * @throws {SearchInterrupted}
   * @throws errors of SQLite and the file system, with their codes
   */
  async ask<Method extends keyof IndexRequests>(
    address: IndexAddress,
    method: Method,
    argument: IndexRequests[Method]['argument'],
  ): Promise<IndexRequests[Method]['result']> {
    if (this.#isClosed) throw new SearchInterrupted()
    this.#addresses.set(address.directory, address)
    return this.#send({ address, method, argument } as SearchCall['request'])
  }

  /**
   * Returns the version of every page by key, and the stamp of the index.
   * @throws {StaleIndex} if the index changes meanwhile
   * @throws as {@link ask}
   */
  async versions(address: IndexAddress): Promise<{ stamp: string; versions: Map<string, string> }> {
    const versions = new Map<string, string>()
    let stamp: string | undefined
    for (let after = ''; ; ) {
      const part = await this.ask(address, 'versions', { after })
      stamp ??= part.stamp
      if (stamp !== part.stamp) throw new StaleIndex()
      for (const [key, version] of part.versions) versions.set(key, version)
      if (part.isLast) return { stamp, versions }
      after = part.versions.at(-1)?.[0] ?? ''
    }
  }

  #send<Result>(request: SearchCall['request']): Promise<Result> {
    this.#worker ??= this.#start()
    const worker = this.#worker
    const id = ++this.#lastId
    return new Promise<Result>((resolve, reject) => {
      this.#pending.set(id, { resolve, reject })
      worker.ref()
      worker.postMessage({ id, request } satisfies SearchCall)
    })
  }

  /** Saves the snapshot of an open index and closes it. */
  async release(directory: string): Promise<void> {
    const address = this.#addresses.get(directory)
    this.#addresses.delete(directory)
    this.turns.forget(directory)
    if (address === undefined || this.#worker === undefined) return
    await this.#send({ address, method: 'close', argument: undefined }).catch(() => undefined)
  }

  /** Closes all indexes and ends the thread. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    const worker = this.#worker
    if (worker === undefined) return
    const closing = [...this.#addresses.keys()].map((directory) => this.release(directory))
    await withTimeout(closingTime, Promise.all(closing), () => [])
    await worker.terminate()
  }

  #start(): Worker {
    const worker = new Worker(workerFile, {
      name: 'search',
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: this.#heapLimitMb },
    })
    worker.on('message', (reply: SearchReply) => this.#settle(reply))
    worker.on('error', (cause) => this.#fail(worker, new SearchInterrupted({ cause })))
    worker.on('exit', () => this.#fail(worker, new SearchInterrupted()))
    return worker
  }

  #settle(reply: SearchReply): void {
    const pending = this.#pending.get(reply.id)
    this.#pending.delete(reply.id)
    // An idle worker must not keep the process alive.
    if (this.#pending.size === 0) this.#worker?.unref()
    if ('error' in reply) pending?.reject(revive(reply.error))
    else pending?.resolve(reply.result as never)
  }

  #fail(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return
    this.#worker = undefined
    for (const { reject } of this.#pending.values()) reject(error)
    this.#pending.clear()
  }
}

/** Thrown if the search thread ended before it answered. */
export class SearchInterrupted extends Error {
  constructor(options?: ErrorOptions) {
    super('The search was interrupted.', options)
  }
}

/** Restores the class of an error, which is lost between threads. */
function revive({ name, message, stack, details }: PlainError): Error {
  if (name === 'QueryError') return new QueryError(message)
  if (name === 'SearchTimeout') return new SearchTimeout()
  if (name === 'StaleIndex') return new StaleIndex()
  return Object.assign(new Error(message), details, stack === undefined ? {} : { stack })
}

/** Batches in progress at a time: one is read while another is indexed. */
const atOnce = 2

type Waiting = { key: string; start: () => void }

/**
 * Turns at indexing, shared by all knowledge bases of a process. The most recently asked knowledge base goes next. Every other
 * turn goes to the one that has waited longest, so that a busy one cannot starve the others.
 */
export class IndexTurns {
  #free = atOnce
  #isLongest = false
  #clock = 0
  readonly #waiting: Waiting[] = []
  /** Time of the last query that each index could not answer. */
  readonly #asked = new Map<string, number>()

  /** Moves a knowledge base ahead of those that were asked earlier. */
  ask(key: string): void {
    this.#asked.set(key, ++this.#clock)
  }

  forget(key: string): void {
    this.#asked.delete(key)
  }

  /** Waits for a turn. @returns a function that ends the turn, to be called once */
  async take(key: string): Promise<() => void> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>((start) => void this.#waiting.push({ key, start }))
    return () => this.#end()
  }

  #end(): void {
    const next = this.#next()
    if (next === undefined) this.#free++
    else next.start()
  }

  #next(): Waiting | undefined {
    if (this.#waiting.length === 0) return undefined
    const askedAt = ({ key }: Waiting) => this.#asked.get(key) ?? 0
    const last = Math.max(...this.#waiting.map(askedAt))
    const at = this.#isLongest ? 0 : this.#waiting.findIndex((one) => askedAt(one) === last)
    this.#isLongest = !this.#isLongest
    return this.#waiting.splice(at, 1)[0]
  }
}
