import { LRUCache } from 'lru-cache'
import type { GitObject, Oid } from './object.ts'

const defaultMaxBytes = 16 * 1024 * 1024
/** Bytes that an entry takes beside its data, more or less. */
const entryBytes = 512
/** Milliseconds without a use after which all is forgotten. */
const idleMs = 60_000

/** Git objects that were used lately, up to 16 MB of memory. They are immutable, so none is ever out of date. */
export class ObjectCache {
  readonly #objects: LRUCache<Oid, GitObject>
  #idle: NodeJS.Timeout | undefined

  /** @param options.maxBytes of all objects; one that would take a sixteenth of them is not kept. */
  constructor({ maxBytes = defaultMaxBytes }: { maxBytes?: number } = {}) {
    const maxEntrySize = maxBytes / 16 + entryBytes
    this.#objects = new LRUCache({ maxSize: maxBytes, maxEntrySize, sizeCalculation: bytesOf })
  }

  /** Bytes that the objects take. */
  get size(): number {
    return this.#objects.calculatedSize
  }

  get(oid: Oid): GitObject | undefined {
    const known = this.#objects.get(oid)
    if (known !== undefined) this.#idle?.refresh()
    return known
  }

  set(oid: Oid, object: GitObject): void {
    if (this.#objects.has(oid)) return
    this.#objects.set(oid, withOwnMemory(object))
    this.#idle = this.#idle?.refresh() ?? setTimeout(() => this.clear(), idleMs).unref()
  }

  clear(): void {
    clearTimeout(this.#idle)
    this.#idle = undefined
    this.#objects.clear()
  }
}

function bytesOf({ data }: GitObject): number {
  return data.length + entryBytes
}

/**
 * Node cuts small buffers out of blocks of 64 KB: one of 100 bytes that is kept would keep its whole block. What an object differs
 * from is of use only while it is written.
 */
function withOwnMemory({ type, data }: GitObject): GitObject {
  const isShared = data.buffer.byteLength !== data.length
  return { type, data: isShared ? Buffer.from(Uint8Array.from(data).buffer) : data }
}
