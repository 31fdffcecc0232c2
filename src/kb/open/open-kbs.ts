import { setTimeout as delay } from 'node:timers/promises'
import { GanglionError } from '../../contract/errors.ts'
import { KeyedLock } from '../../system/concurrency/keyed-lock.ts'
import { type Held, holdForUse } from '../../system/concurrency/present-work.ts'
import { openFilesLimit } from '../../system/open-files-limit.ts'
import type { KbIdentity } from '../kb-identity.ts'
import type { KnowledgeBase } from '../knowledge-base.ts'
import type { ReadableKb } from '../readable-kb.ts'

export type OpenKb = {
  /** Knowledge base whose main can be read, see `isReadable`. */
  kb: KnowledgeBase
  /** Resolves once the candidates are followed, too, and interrupted work is finished. Retries after a failure. */
  whole: () => Promise<KnowledgeBase>
  close: () => Promise<void>
}

/** Maximum number of knowledge bases that stay open, used or idle, if there are enough file descriptors. */
export const openAtOnce = 64
/** Milliseconds until an unused knowledge base, or one opened outside of a use, counts as idle. */
const idleMs = 60_000
/** Milliseconds that a request waits until a knowledge base becomes idle. */
const patienceMs = 5_000
const lookAgainMs = 5
/** Maximum file descriptors of an open knowledge base. */
const filesPerKb = 12

/**
 * Returns how many knowledge bases may be open with this many file descriptors. Half of those are reserved for connections, packs and
 * processes.
 */
export function mostOpenWith(files: number): number {
  return Math.max(4, Math.floor(files / 2 / filesPerKb))
}

type Entry = Held & {
  identity: KbIdentity
  opening: Promise<OpenKb>
  kb?: KnowledgeBase
  usedAt: number
  closing?: Promise<void>
}

/**
 * Open knowledge bases, no more than the file descriptors allow. Idle ones are closed: after a while, or the least recently used one as
 * soon as another needs its place.
 */
export class OpenKbs {
  readonly most: number
  readonly #load: (identity: KbIdentity) => Promise<OpenKb>
  readonly #onError: (error: unknown) => void
  readonly #patience: number
  /** Open knowledge bases, least recently used first. */
  readonly #open = new Map<string, Entry>()
  /** Requests wait for a place in order of arrival. */
  readonly #waiting = new KeyedLock()
  #openedAt = Number.NEGATIVE_INFINITY
  #isClosed = false

  constructor(
    load: (identity: KbIdentity) => Promise<OpenKb>,
    onError: (error: unknown) => void,
    { most = mostOpenWith(openFilesLimit()), patience = patienceMs } = {},
  ) {
    this.#load = load
    this.#onError = onError
    this.most = most
    this.#patience = patience
  }

  /** Opens a knowledge base, or brings the open one up to its refs. @throws {GanglionError} `unavailable` if too many are in use */
  async open(identity: KbIdentity): Promise<KnowledgeBase> {
    const { whole } = await this.#use(identity)
    return (await whole()).whole()
  }

  /** Opens a knowledge base like {@link open}, but waits only for main if candidates are followed for the first time. */
  async openToRead(identity: KbIdentity): Promise<ReadableKb> {
    const { kb, whole } = await this.#use(identity)
    return (await kb.isReadable()) ? kb : (await whole()).whole()
  }

  async #use(identity: KbIdentity): Promise<OpenKb> {
    // Background work may still request a knowledge base when the process ends.
    if (this.#isClosed) throw new GanglionError('unavailable')
    const entry = this.#find(identity) ?? (await this.#waitFor(identity))
    this.#closeLongUnused()
    try {
      const opened = await entry.opening
      entry.kb = opened.kb
      return opened
    } catch (error) {
      this.#forget(entry) // The next request tries again.
      throw error
    }
  }

  /** Returns the entry of an open knowledge base, or adds one if there is room, held for the caller. Undefined if there is none. */
  #find(identity: KbIdentity): Entry | undefined {
    const known = this.#open.get(identity.id)
    if (known?.closing !== undefined || (known === undefined && this.#open.size >= this.most)) return undefined
    if (known !== undefined) Object.assign(known.identity, identity) // It may have been renamed.
    const entry = known ?? { identity, opening: this.#load(identity), users: 0, usedAt: 0 }
    this.#open.delete(identity.id)
    this.#open.set(identity.id, entry)
    entry.usedAt = Date.now()
    holdForUse(entry, idleMs)
    return entry
  }

  #waitFor(identity: KbIdentity): Promise<Entry> {
    const begin = performance.now()
    return this.#waiting.run('', async () => {
      for (;;) {
        const entry = this.#find(identity)
        const now = performance.now()
        if (entry !== undefined) {
          this.#openedAt = now
          return entry
        }
        if (now > Math.max(begin, this.#openedAt) + this.#patience)
          throw new GanglionError('unavailable', 'More knowledge bases are in use at once than the server may open.')
        const idle = this.#entries().find(isIdle)
        await (this.#open.get(identity.id)?.closing ?? (idle === undefined ? delay(lookAgainMs) : this.#close(idle)))
      }
    })
  }

  has(id: string): boolean {
    return this.#open.has(id)
  }

  /** Closes a knowledge base that is not in use. @returns true if it is closed */
  async closeUnused(id: string): Promise<boolean> {
    const entry = this.#open.get(id)
    if (entry !== undefined && isIdle(entry)) await this.#close(entry)
    return !this.#open.has(id)
  }

  identities(): KbIdentity[] {
    return this.#entries().map(({ identity }) => identity)
  }

  /** Returns the knowledge bases that are open, without waiting or bringing them up to their refs. */
  opened(): KnowledgeBase[] {
    return this.#entries().flatMap(({ kb, closing }) => (kb === undefined || closing !== undefined ? [] : [kb]))
  }

  async all(): Promise<KnowledgeBase[]> {
    const open = this.#entries().filter(({ closing }) => closing === undefined)
    const opened = await Promise.allSettled(open.map(async ({ opening }) => (await opening).whole()))
    return opened.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const entry of this.#entries()) await this.#close(entry)
  }

  #entries(): Entry[] {
    return [...this.#open.values()]
  }

  /** Closes those that have been idle for a while. */
  #closeLongUnused(): void {
    for (const entry of this.#open.values()) {
      if (this.#open.size <= openAtOnce || Date.now() - entry.usedAt < idleMs) return
      if (isIdle(entry)) void this.#close(entry)
    }
  }

  /** Closes an entry. It counts as open until its files are closed; only then can it be opened again. */
  #close(entry: Entry): Promise<void> {
    entry.closing ??= entry.opening
      .then(({ close }) => close())
      .catch(this.#onError)
      .finally(() => this.#forget(entry))
    return entry.closing
  }

  #forget(entry: Entry): void {
    if (this.#open.get(entry.identity.id) === entry) this.#open.delete(entry.identity.id)
  }
}

function isIdle({ users, closing }: Entry): boolean {
  return users === 0 && closing === undefined
}
