import { LRUCache } from 'lru-cache'
import { GanglionError } from '../../contract/errors.ts'
import type { Oid } from '../../git/objects/object.ts'
import type { KnowledgeBase } from '../../kb/knowledge-base.ts'
import { findCandidate, pendingRecord } from '../../kb/projection/candidate-index.ts'
import { type Held, holdForUse } from '../../system/concurrency/present-work.ts'

/** Maximum number of cached previews of one knowledge base, and total bytes of their objects. */
const [mostKept, mostBytes] = [8, 64 * 2 ** 20]
/** Milliseconds until an unused preview is dropped. */
const idleMs = 60_000
/** Maximum attempts to build a preview while `main` keeps moving. */
const maxAttempts = 5

/** Cached preview, based on one commit of main. */
type Kept = { main: Oid | undefined; size: number; close: () => void }

type Entry<Value> = Held & { ids: readonly string[]; value: Promise<Value | undefined>; size: number }

/**
 * Previews of an open knowledge base, in memory only. A preview is dropped when main moves, when one of its candidates is decided or
 * revised, when it is unused, and when there are too many. It is closed once no request reads it, since it keeps the tables' file in its
 * former state.
 */
export class KbPreviews<Value extends Kept> {
  readonly #kb: KnowledgeBase
  /** Cached previews by their inputs. */
  readonly #kept = new LRUCache<string, Entry<Value>>({
    ...{ max: mostKept, ttl: idleMs, updateAgeOnGet: true, ttlAutopurge: true },
    disposeAfter: (entry) => this.#closeUnused(entry),
  })
  /** Cached previews, and dropped ones that are still read. */
  readonly #open = new Set<Entry<Value>>()

  constructor(kb: KnowledgeBase) {
    this.#kb = kb
  }

  /**
   * Returns the preview of some candidates, from the cache or newly built.
   * @param make returns undefined if main has moved meanwhile
   * @throws {GanglionError} `not_found`, `not_pending`, `unavailable`
   */
  async open(ids: readonly string[], make: () => Promise<Value | undefined>): Promise<Value> {
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const key = this.#keyOf(ids)
      if (key === undefined) {
        const isUnknown = ids.some((id) => findCandidate(this.#kb.projection.read, id) === undefined)
        throw new GanglionError(isUnknown ? 'not_found' : 'not_pending')
      }
      const entry = this.#kept.get(key) ?? this.#keep(key, { ids, value: make(), users: 0, size: 0 })
      holdForUse(entry, idleMs)
      const value = await entry.value
      if (value !== undefined && value.main === this.#kb.heads().main) return value
      if (this.#kept.peek(key) === entry) this.#kept.delete(key)
    }
    throw new GanglionError('unavailable')
  }

  /** Drops previews whose inputs have changed. */
  dropOld(): void {
    for (const [key, { ids }] of [...this.#kept.entries()]) if (this.#keyOf(ids) !== key) this.#kept.delete(key)
  }

  async close(): Promise<void> {
    const open = [...this.#open]
    this.#open.clear()
    this.#kept.clear()
    for (const entry of open) await closed(entry)
  }

  /** Returns the cache key of candidates with their records; undefined unless all are pending. */
  #keyOf(ids: readonly string[]): string | undefined {
    const records = ids.map((id) => pendingRecord(this.#kb.projection.read, id))
    return records.includes(undefined) ? undefined : [this.#kb.heads().main, ...ids, ...records].join(' ')
  }

  #keep(key: string, entry: Entry<Value>): Entry<Value> {
    entry.onUnused = () => this.#closeUnused(entry)
    this.#open.add(entry)
    this.#kept.set(key, entry)
    const opened = entry.value.then((value) => {
      entry.size = value?.size ?? 0
      const bytes = () => [...this.#kept.values()].reduce((sum, { size }) => sum + size, 0)
      while (this.#kept.size > 1 && bytes() > mostBytes) this.#kept.pop()
    })
    opened.catch(() => this.#kept.delete(key)) // The caller that opens the preview gets the error.
    return entry
  }

  #closeUnused(entry: Entry<Value>): void {
    if (entry.users > 0 || [...this.#kept.values()].includes(entry)) return
    if (this.#open.delete(entry)) void closed(entry)
  }
}

async function closed({ value }: Entry<Kept>): Promise<void> {
  const opened = await value.catch(() => undefined)
  opened?.close()
}
