import { Worker } from 'node:worker_threads'
import { withTimeout } from '../system/concurrency/with-timeout.ts'
import type { IndexAddress, IndexRequests } from './index-host.ts'
import { QueryError } from './query/query-tree.ts'
import { SearchTimeout, StaleIndex } from './search-index.ts'
import type { PlainError, SearchCall, SearchReply } from './search-worker.ts'

type Pending = { resolve: (result: never) => void; reject: (error: Error) => void }

const defaultHeapLimitMb = 1024
/** Milliseconds that closing waits for what the thread is at. */
const closingTime = 10_000
/** The worker has this file's extension: `.ts` in a checkout, `.js` in the built package. */
const workerFile = new URL(`./search-worker${import.meta.url.slice(-3)}`, import.meta.url)

/**
 * Search indexes in a thread of their own, so that neither building nor searching holds up anything else; it starts with the
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
   * Asks an index; it is opened, or made, where it is not yet.
   * @throws {QueryError} @throws {SearchTimeout} @throws {StaleIndex} @throws {SearchInterrupted}
   * @throws SQLite's and the file system's errors, with their codes.
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
   * What an index holds: the version of every page, by key, and its stamp.
   * @throws {StaleIndex} where it changes meanwhile. @throws what {@link ask} throws
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

  /** Saves what makes the next opening of an index fast, and closes it, if it is open. */
  async release(directory: string): Promise<void> {
    const address = this.#addresses.get(directory)
    this.#addresses.delete(directory)
    this.turns.forget(directory)
    if (address === undefined || this.#worker === undefined) return
    await this.#send({ address, method: 'close', argument: undefined }).catch(() => undefined)
  }

  /** Closes all indexes, and ends the thread. */
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
    // Between calls it does not keep the process alive.
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

/** The search thread has ended, or is being ended, before it answered. */
export class SearchInterrupted extends Error {
  constructor(options?: ErrorOptions) {
    super('The search was interrupted.', options)
  }
}

/** Errors lose their class on the way between threads. */
function revive({ name, message, stack, details }: PlainError): Error {
  if (name === 'QueryError') return new QueryError(message)
  if (name === 'SearchTimeout') return new SearchTimeout()
  if (name === 'StaleIndex') return new StaleIndex()
  return Object.assign(new Error(message), details, stack === undefined ? {} : { stack })
}

/** Batches that are read and indexed at a time: one is read while the other is taken in. */
const atOnce = 2

type Waiting = { key: string; start: () => void }

/**
 * Turns at indexing, for all knowledge bases of a process. Of those that wait, the one that was asked last is next, and every other
 * time the one that has waited longest, so that a busy one cannot hold up the others.
 */
export class IndexTurns {
  #free = atOnce
  #isLongest = false
  #clock = 0
  readonly #waiting: Waiting[] = []
  /** Time at which each knowledge base was last asked something that its index could not answer. */
  readonly #asked = new Map<string, number>()

  /** Lets a knowledge base go before those that were asked earlier. */
  ask(key: string): void {
    this.#asked.set(key, ++this.#clock)
  }

  forget(key: string): void {
    this.#asked.delete(key)
  }

  /** Waits for a turn. @returns what ends it, to be called once */
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
