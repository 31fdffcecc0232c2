import { Worker } from 'node:worker_threads'
import type { IndexAddress, IndexRequests } from './index-host.ts'
import { QueryError } from './query.ts'
import { SearchTimeout } from './search-index.ts'
import type { SearchCall, SearchReply } from './search-worker.ts'

type Pending = { resolve: (result: never) => void; reject: (error: Error) => void }

const heapLimitMb = 1024
/** The worker has this file's extension: `.ts` in a checkout, `.js` in the built package. */
const workerFile = new URL(`./search-worker${import.meta.url.slice(-3)}`, import.meta.url)

/**
 * Search indexes in a thread of their own, so that neither building nor searching holds up anything else; it starts with the
 * first call, and again after it has died.
 */
export class SearchPool {
  readonly #pending = new Map<number, Pending>()
  readonly #addresses = new Map<string, IndexAddress>()
  #worker: Worker | undefined
  #lastId = 0
  #isClosed = false

  /**
   * Asks an index; it is opened, or made, where it is not yet.
   * @throws {QueryError} @throws {SearchTimeout} @throws {Error} where the thread has died.
   */
  async ask<Method extends keyof IndexRequests>(
    address: IndexAddress,
    method: Method,
    argument: IndexRequests[Method]['argument'],
  ): Promise<IndexRequests[Method]['result']> {
    if (this.#isClosed) throw new Error('The search indexes are closed.')
    this.#addresses.set(address.directory, address)
    return this.#send({ address, method, argument } as SearchCall['request'])
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

  /** Saves what makes the next opening fast, and ends the thread. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    const worker = this.#worker
    if (worker === undefined) return
    const closing = [...this.#addresses.values()].map((address) =>
      this.#send({ address, method: 'close', argument: undefined }).catch(() => undefined),
    )
    await Promise.all(closing)
    await worker.terminate()
  }

  #start(): Worker {
    const worker = new Worker(workerFile, { execArgv: [], resourceLimits: { maxOldGenerationSizeMb: heapLimitMb } })
    worker.on('message', (reply: SearchReply) => this.#settle(reply))
    worker.on('error', (error: Error) => this.#fail(worker, error))
    worker.on('exit', () => this.#fail(worker, new Error('The search thread has ended.')))
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

/** Errors lose their class on the way between threads. */
function revive({ name, message }: { name: string; message: string }): Error {
  if (name === 'QueryError') return new QueryError(message)
  if (name === 'SearchTimeout') return new SearchTimeout()
  return new Error(message)
}
