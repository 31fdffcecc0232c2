import { setTimeout as delay } from 'node:timers/promises'
import { GanglionError } from '../../contract/errors.ts'
import { KeyedLock } from '../../system/concurrency/keyed-lock.ts'
import { openFilesLimit } from '../../system/open-files-limit.ts'
import type { KbIdentity } from '../kb-identity.ts'
import type { KnowledgeBase } from '../knowledge-base.ts'
import type { ReadableKb } from '../readable-kb.ts'
import { type Held, holdForUse } from './kb-use.ts'

export type OpenKb = {
  /** Main can be read, see `isReadable`. */
  kb: KnowledgeBase
  /** Once the candidates are followed, too, and what a crash interrupted is finished. Where that failed, it is tried again. */
  whole: () => Promise<KnowledgeBase>
  close: () => Promise<void>
}

/** So many stay open, in use or not, if there are file descriptors for them. */
export const openAtOnce = 64
/** Milliseconds until one is idle that nobody used since, or that was opened outside of a use. */
const idleMs = 60_000
/** Milliseconds that requests wait while none becomes idle. */
const patienceMs = 5_000
const lookAgainMs = 5
/** File descriptors of an open knowledge base, at most. */
const filesPerKb = 12

/** Returns how many knowledge bases may be open with this many file descriptors. Half of those are for connections, packs and processes. */
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
 * The open knowledge bases, no more than the system has file descriptors for. Idle ones are closed: after a while, or the least
 * recently used one as soon as there is no room for another.
 */
export class OpenKbs {
  readonly most: number
  readonly #load: (identity: KbIdentity) => Promise<OpenKb>
  readonly #onError: (error: unknown) => void
  readonly #patience: number
  /** The least recently used first. */
  readonly #open = new Map<string, Entry>()
  /** Requests wait for room in the order of their arrival. */
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

  /** Opens a knowledge base, or brings the open one up to its refs. @throws {GanglionError} `unavailable`: too many are in use */
  async open(identity: KbIdentity): Promise<KnowledgeBase> {
    const { whole } = await this.#use(identity)
    return (await whole()).whole()
  }

  /** The same, but waits for no more than main where candidates are followed for the first time. */
  async openToRead(identity: KbIdentity): Promise<ReadableKb> {
    const { kb, whole } = await this.#use(identity)
    return (await kb.isReadable()) ? kb : (await whole()).whole()
  }

  async #use(identity: KbIdentity): Promise<OpenKb> {
    // Work in the background may still ask for one when the process ends.
    if (this.#isClosed) throw new GanglionError('unavailable')
    const entry = this.#find(identity) ?? (await this.#waitFor(identity))
    this.#closeLongUnused()
    try {
      const opened = await entry.opening
      entry.kb = opened.kb
      return opened
    } catch (error) {
      this.#forget(entry) // the next request tries again
      throw error
    }
  }

  /** An open one, or a new one if there is room, held for the caller. */
  #find(identity: KbIdentity): Entry | undefined {
    const known = this.#open.get(identity.id)
    if (known?.closing !== undefined || (known === undefined && this.#open.size >= this.most)) return undefined
    if (known !== undefined) Object.assign(known.identity, identity) // it may have been renamed
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

  /** Closes one that nobody uses. @returns whether it is closed */
  async closeUnused(id: string): Promise<boolean> {
    const entry = this.#open.get(id)
    if (entry !== undefined && isIdle(entry)) await this.#close(entry)
    return !this.#open.has(id)
  }

  identities(): KbIdentity[] {
    return this.#entries().map(({ identity }) => identity)
  }

  /** Those that are open by now, as they are: none is waited for, or brought up to its refs. */
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

  /** Closes those that nobody has used for a while. */
  #closeLongUnused(): void {
    for (const entry of this.#open.values()) {
      if (this.#open.size <= openAtOnce || Date.now() - entry.usedAt < idleMs) return
      if (isIdle(entry)) void this.#close(entry)
    }
  }

  /** It counts as open until its files are closed, and is opened again only then. */
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
