import type { KbIdentity, KnowledgeBase } from './knowledge-base/knowledge-base.ts'
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
    const opening = this.#open.get(identity.id)?.opening ?? this.#load(identity)
    this.#open.delete(identity.id)
    this.#open.set(identity.id, { identity, opening, usedAt: Date.now() })
    this.#closeIdle()
    try {
      const { kb } = await opening
      await kb.sync()
      return kb
    } catch (error) {
      await opening.catch(() => this.#open.delete(identity.id)) // the next request tries again
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
    const opened = await Promise.allSettled([...this.#open.values()].map(({ opening }) => opening))
    return opened.flatMap((result) => (result.status === 'fulfilled' ? [result.value.kb] : []))
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
