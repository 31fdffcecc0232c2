import { type IndexOptions, KbIndex } from './kb-index.ts'
import type { ChunkHit, IndexedDocument, PageHit, Reach, Scope } from './search-index.ts'

/** Which index: its folder, and how it is made. */
export type IndexAddress = { directory: string } & IndexOptions

/** What an index can be asked, by the name of the method. */
export type IndexRequests = {
  versions: { argument: undefined; result: Map<string, string> }
  apply: { argument: { put: readonly IndexedDocument[]; remove: readonly string[] }; result: undefined }
  search: { argument: { q: string; scope: Scope }; result: { hits: PageHit[]; total: number } }
  retrieve: { argument: { question: string; scope: Scope; reach: Reach }; result: ChunkHit[] }
  close: { argument: undefined; result: undefined }
}
export type IndexRequest = {
  [Method in keyof IndexRequests]: {
    address: IndexAddress
    method: Method
    argument: IndexRequests[Method]['argument']
  }
}[keyof IndexRequests]

/** Chunks that indexes may hold in memory, all together: some 250 MB. */
const memoryBudget = 45_000
/** Chunks that have changed since a snapshot was saved, before another is worth its time. */
const worthSaving = 1_000
/** Milliseconds without a request. */
const quietTime = 2_000

/** The open indexes of a process, within a budget of memory: those that were not asked for longest are closed. */
export class IndexHost {
  /** The least recently used first. */
  readonly #open = new Map<string, KbIndex>()
  #quiet: NodeJS.Timeout | undefined

  handle(request: IndexRequest): unknown {
    clearTimeout(this.#quiet)
    this.#quiet = setTimeout(() => this.#save(), quietTime)
    if (request.method === 'close') return this.#close(request.address.directory)
    const index = this.#index(request.address)
    switch (request.method) {
      case 'versions':
        return index.versions()
      case 'search':
        return index.search(request.argument.q, request.argument.scope)
      case 'retrieve':
        return index.retrieve(request.argument.question, request.argument.scope, request.argument.reach)
      case 'apply':
        return this.#apply(index, request)
    }
  }

  #apply(index: KbIndex, { address, argument }: Extract<IndexRequest, { method: 'apply' }>): undefined {
    try {
      index.apply(argument)
    } catch (error) {
      // What is in memory may be ahead of the disk.
      index.close()
      this.#open.delete(address.directory)
      throw error
    }
    this.#evict()
  }

  #index(address: IndexAddress): KbIndex {
    const { directory, language } = address
    const known = this.#open.get(directory)
    this.#open.delete(directory)
    if (known !== undefined && known.language === language) {
      this.#open.set(directory, known)
      return known
    }
    known?.close()
    const index = new KbIndex(directory, address)
    this.#open.set(directory, index)
    this.#evict()
    return index
  }

  #evict(): void {
    let held = 0
    for (const index of this.#open.values()) held += index.chunksInMemory
    for (const [directory, index] of this.#open) {
      if (held <= memoryBudget || this.#open.size === 1) return
      held -= index.chunksInMemory
      this.#close(directory)
    }
  }

  #close(directory: string): undefined {
    const index = this.#open.get(directory)
    this.#open.delete(directory)
    if (index === undefined) return
    if (index.unsavedChunks > 0) index.save()
    index.close()
  }

  #save(): void {
    for (const index of this.#open.values()) if (index.unsavedChunks >= worthSaving) index.save()
  }
}
