import type { GitObject, Oid } from './object.ts'

const maxBytes = 16 * 1024 * 1024
/** Bytes that an entry takes beside its data, more or less. */
const entryBytes = 512
/** Milliseconds without a use after which all is forgotten. */
const idleMs = 60_000

/** Git objects that were used lately, up to 16 MB of memory. They are immutable, so none is ever out of date. */
export class ObjectCache {
  readonly #objects = new Map<Oid, GitObject>()
  readonly #maxBytes: number
  #bytes = 0
  #idle: NodeJS.Timeout | undefined

  constructor(options: { maxBytes?: number } = {}) {
    this.#maxBytes = options.maxBytes ?? maxBytes
  }

  /** Bytes that the objects take. */
  get size(): number {
    return this.#bytes
  }

  get(oid: Oid): GitObject | undefined {
    const known = this.#objects.get(oid)
    if (known === undefined) return undefined
    this.#objects.delete(oid)
    this.#objects.set(oid, known)
    this.#idle?.refresh()
    return known
  }

  /** Keeps an object, but for one that would take a sixteenth of the memory. */
  set(oid: Oid, object: GitObject): void {
    if (this.#objects.has(oid) || object.data.length > this.#maxBytes / 16) return
    this.#objects.set(oid, withOwnMemory(object))
    this.#bytes += bytesOf(object)
    for (const [oldest, evicted] of this.#objects) {
      if (this.#bytes <= this.#maxBytes) break
      this.#objects.delete(oldest)
      this.#bytes -= bytesOf(evicted)
    }
    this.#idle = this.#idle?.refresh() ?? setTimeout(() => this.clear(), idleMs).unref()
  }

  clear(): void {
    clearTimeout(this.#idle)
    this.#idle = undefined
    this.#objects.clear()
    this.#bytes = 0
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
