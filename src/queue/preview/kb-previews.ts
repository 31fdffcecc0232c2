import { GanglionError } from '../../contract/errors.ts'
import type { Oid } from '../../git/objects/object.ts'
import type { KnowledgeBase } from '../../kb/knowledge-base.ts'
import { type Held, KbUse } from '../../kb/open/kb-use.ts'
import { findCandidate, pendingRecord } from '../../kb/projection/candidate-index.ts'

/** Previews of one knowledge base that are kept, and bytes of their objects, all together. */
const [mostKept, mostBytes] = [8, 64 * 2 ** 20]
/** Milliseconds until one is dropped that nobody used since, and from one look for such to the next. */
const [idleMs, sweepMs] = [60_000, 1_000]
/** How often one is made that main's moves can make void. */
const maxAttempts = 5

/** What is kept: of one commit of main. */
type Kept = { main: Oid | undefined; size: number; close: () => void }

type Entry<Value> = Held & {
  ids: readonly string[]
  /** The records of the candidates that it was made of. */
  records: string
  value: Promise<Value | undefined>
  opened?: Value | undefined
  usedAt: number
  heldUntil: number
}

/**
 * The previews of an open knowledge base, in memory alone. One is dropped when main moves, when a candidate of it is decided or revised,
 * when nobody uses it, and when there are too many; and closed once no request reads it, since it keeps the tables' file as it was.
 */
export class KbPreviews<Value extends Kept> {
  readonly #kb: KnowledgeBase
  /** The least recently used first. */
  readonly #entries = new Map<string, Entry<Value>>()
  readonly #dropped = new Set<Entry<Value>>()
  #sweeping: NodeJS.Timeout | undefined

  constructor(kb: KnowledgeBase) {
    this.#kb = kb
  }

  /**
   * The preview of some candidates, as it is kept or is made now.
   * @param make gives undefined where main has moved meanwhile
   * @throws {GanglionError} `not_found`, `not_pending`, `unavailable`
   */
  async open(ids: readonly string[], make: () => Promise<Value | undefined>): Promise<Value> {
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const entry = this.#find(ids, make)
      entry.usedAt = Date.now()
      const use = KbUse.current
      if (use === undefined) entry.heldUntil = entry.usedAt + idleMs
      else use.hold(entry)
      const value = await entry.value
      if (value !== undefined && value.main === this.#kb.heads().main) return value
      this.#drop(entry)
    }
    throw new GanglionError('unavailable')
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeping)
    for (const entry of [...this.#entries.values(), ...this.#dropped]) await closed(entry)
    this.#entries.clear()
    this.#dropped.clear()
  }

  #find(ids: readonly string[], make: () => Promise<Value | undefined>): Entry<Value> {
    const [key, records] = [ids.join(' '), this.#recordsOf(ids)]
    if (records === undefined) {
      const isUnknown = ids.some((id) => findCandidate(this.#kb.projection.read, id) === undefined)
      throw new GanglionError(isUnknown ? 'not_found' : 'not_pending')
    }
    const known = this.#entries.get(key)
    if (known !== undefined && this.#isStale(known)) this.#drop(known)
    const entry = this.#entries.get(key) ?? { ids, records, value: make(), users: 0, usedAt: 0, heldUntil: 0 }
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    if (entry !== known) this.#keep(entry)
    return entry
  }

  #keep(entry: Entry<Value>): void {
    this.#sweeping ??= setInterval(() => this.#sweep(), sweepMs).unref()
    const opened = entry.value.then((value) => {
      entry.opened = value
      let bytes = 0
      for (const [index, one] of [...this.#entries.values()].reverse().entries()) {
        bytes += one.opened?.size ?? 0
        if (index > 0 && (index >= mostKept || bytes > mostBytes)) this.#drop(one)
      }
    })
    opened.catch(() => this.#drop(entry)) // told to whoever asked for it
  }

  #isStale({ ids, records, opened }: Entry<Value>): boolean {
    return this.#recordsOf(ids) !== records || (opened !== undefined && opened.main !== this.#kb.heads().main)
  }

  /** Undefined where not all are pending. */
  #recordsOf(ids: readonly string[]): string | undefined {
    const records = ids.map((id) => pendingRecord(this.#kb.projection.read, id))
    return records.includes(undefined) ? undefined : records.join(' ')
  }

  #drop(entry: Entry<Value>): void {
    const key = entry.ids.join(' ')
    if (this.#entries.get(key) === entry) this.#entries.delete(key)
    this.#dropped.add(entry)
  }

  #sweep(): void {
    const now = Date.now()
    for (const entry of this.#entries.values())
      if (now - entry.usedAt > idleMs || this.#isStale(entry)) this.#drop(entry)
    for (const entry of this.#dropped) {
      if (entry.users > 0 || now < entry.heldUntil) continue
      this.#dropped.delete(entry)
      void closed(entry)
    }
    if (this.#entries.size + this.#dropped.size > 0) return
    clearInterval(this.#sweeping)
    this.#sweeping = undefined
  }
}

async function closed({ value }: Entry<Kept>): Promise<void> {
  const opened = await value.catch(() => undefined)
  opened?.close()
}
