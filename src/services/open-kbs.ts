import type { KbIdentity, KnowledgeBase } from './knowledge-base/knowledge-base.ts'
import type { ReadableKb } from './knowledge-base/readable-kb.ts'
import type { OpenKb } from './load-kb.ts'

const openAtOnce = 64
const idleMs = 60_000

/** The open knowledge bases. Idle ones are closed. */
export class OpenKbs {
  readonly #load: (identity: KbIdentity) => Promise<OpenKb>
  readonly #onError: (error: unknown) => void
  /** The least recently used first. */
  readonly #open = new Map<string, { identity: KbIdentity; opening: Promise<OpenKb>; usedAt: number }>()

  constructor(load: (identity: KbIdentity) => Promise<OpenKb>, onError: (error: unknown) => void) {
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
    const opening = this.#open.get(identity.id)?.opening ?? this.#load(identity)
    this.#open.delete(identity.id)
    this.#open.set(identity.id, { identity, opening, usedAt: Date.now() })
    this.#closeIdle()
    try {
      return await opening
    } catch (error) {
      this.#open.delete(identity.id) // the next request tries again
      throw error
    }
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
  #closeIdle(): void {
    for (const [id, { opening, usedAt }] of this.#open) {
      if (this.#open.size <= openAtOnce || Date.now() - usedAt < idleMs) return
      this.#open.delete(id)
      opening.then(({ close }) => close()).catch(this.#onError)
    }
  }
}
