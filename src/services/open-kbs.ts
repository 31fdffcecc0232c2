import { GanglionError } from '../contract/errors.ts'
import { openFilesLimit } from '../files/open-files-limit.ts'
import type { KbIdentity, KnowledgeBase } from './knowledge-base/knowledge-base.ts'
import type { ReadableKb } from './knowledge-base/readable-kb.ts'
import type { OpenKb } from './load-kb.ts'

const openAtOnce = 64
const idleMs = 60_000
/** Milliseconds for which the server counts as crowded after it rejected a request. */
const crowdedMs = 10_000
/** File descriptors of an open knowledge base, at most, and what everything else is left. */
const filesPerKb = 12
const otherFiles = 256

/** Returns how many knowledge bases may be open with this many file descriptors. */
export function mostOpenWith(files: number): number {
  return Math.max(4, Math.floor((files - otherFiles) / filesPerKb))
}

/** The open knowledge bases. Idle ones are closed. More than the system has file descriptors for are not opened. */
export class OpenKbs {
  readonly #load: (identity: KbIdentity) => Promise<OpenKb>
  readonly #onError: (error: unknown) => void
  readonly #most: number
  #rejectedAt = Number.NEGATIVE_INFINITY
  /** The least recently used first. */
  readonly #open = new Map<string, { identity: KbIdentity; opening: Promise<OpenKb>; usedAt: number }>()

  constructor(
    load: (identity: KbIdentity) => Promise<OpenKb>,
    onError: (error: unknown) => void,
    most = mostOpenWith(openFilesLimit()),
  ) {
    this.#most = most
    this.#load = load
    this.#onError = onError
  }

  /** Opens a knowledge base, or brings the open one up to its refs. */
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
    const opening = this.#open.get(identity.id)?.opening ?? this.#begin(identity)
    this.#open.delete(identity.id)
    this.#open.set(identity.id, { identity, opening, usedAt: Date.now() })
    this.#closeIdle(openAtOnce)
    try {
      return await opening
    } catch (error) {
      this.#open.delete(identity.id) // the next request tries again
      throw error
    }
  }

  /** @throws {GanglionError} `unavailable` */
  #begin(identity: KbIdentity): Promise<OpenKb> {
    this.#closeIdle(this.#most - 1)
    if (this.#open.size < this.#most) return this.#load(identity)
    this.#rejectedAt = performance.now()
    throw new GanglionError('unavailable', 'Too many knowledge bases are in use at once.')
  }

  get isCrowded(): boolean {
    return performance.now() - this.#rejectedAt < crowdedMs
  }

  has(id: string): boolean {
    return this.#open.has(id)
  }

  identities(): KbIdentity[] {
    return [...this.#open.values()].map(({ identity }) => identity)
  }

  async all(): Promise<KnowledgeBase[]> {
    const whole = [...this.#open.values()].map(async ({ opening }) => (await opening).whole())
    const opened = await Promise.allSettled(whole)
    return opened.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  }

  async close(): Promise<void> {
    for (const { opening } of this.#open.values()) await (await opening.catch(() => undefined))?.close()
    this.#open.clear()
  }

  /** Closes the least recently used ones. One that was asked for a moment ago may still be in use. */
  #closeIdle(kept: number): void {
    for (const [id, { opening, usedAt }] of this.#open) {
      if (this.#open.size <= kept || Date.now() - usedAt < idleMs) return
      this.#open.delete(id)
      opening.then(({ close }) => close()).catch(this.#onError)
    }
  }
}
