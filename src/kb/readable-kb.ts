import { LRUCache } from 'lru-cache'
import type { ReadRepository } from '../git/staged-repository.ts'
import type { KnowledgeBase } from './knowledge-base.ts'
import type { AllTables, MainTables, Projection } from './projection/projection.ts'

export type KbLabel = { slug: string; title: string }

/**
 * Knowledge base whose main can be read. At its first opening that is possible before its candidates are followed; work that depends on
 * candidates waits for `whole`.
 */
export type ReadableKb = Pick<KnowledgeBase, 'identity' | 'parser' | 'heads' | 'settings'> & {
  repository: ReadRepository
  projection: Pick<Projection, 'revision' | 'heads'> & {
    read: MainTables
    withSnapshot<T>(work: (sql: MainTables) => Promise<T>): Promise<T>
  }
  whole(): Promise<Pick<KnowledgeBase, 'parser'> & { repository: ReadRepository; projection: { read: AllTables } }>
  /** Base of a preview, and the Neurons that differ from it; absent unless this is a preview. */
  laidOver?: { on: KnowledgeBase; changed: readonly string[] }
}

export async function kbLabel(kb: Pick<ReadableKb, 'identity' | 'settings'>): Promise<KbLabel> {
  const { slug } = kb.identity
  const { title } = await kb.settings()
  return { slug, title: title ?? slug }
}

/** Maximum values that are cached for a knowledge base. */
const maxKept = 100

/** Caches values derived from a knowledge base, until main moves. */
export class PerCommit<Value> {
  readonly #kept = new WeakMap<object, { main: string | undefined; values: LRUCache<string, Promise<Value>> }>()

  /** @param key identifies the value and its audience */
  get(kb: Pick<ReadableKb, 'heads'>, key: string, make: () => Promise<Value>): Promise<Value> {
    const { main } = kb.heads()
    const kept = this.#kept.get(kb)
    const values =
      kept !== undefined && kept.main === main ? kept.values : new LRUCache<string, Promise<Value>>({ max: maxKept })
    if (values !== kept?.values) this.#kept.set(kb, { main, values })
    const known = values.get(key)
    if (known !== undefined) return known
    const value = make()
    values.set(key, value)
    value.catch(() => values.delete(key))
    return value
  }
}
