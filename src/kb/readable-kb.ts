import type { ReadRepository } from '../git/staged-repository.ts'
import type { Audience } from '../rules/access/audience.ts'
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

type Kept<Value> = { main: string | undefined; value: Promise<Value> }

/** Caches a value derived from a knowledge base for each audience, until main moves. */
export class PerCommit<Value> {
  readonly #kept = new WeakMap<object, Map<Audience, Kept<Value>>>()

  get(kb: Pick<ReadableKb, 'heads'>, audience: Audience, make: () => Promise<Value>): Promise<Value> {
    const { main } = kb.heads()
    const ofKb = this.#kept.getOrInsertComputed(kb, () => new Map<Audience, Kept<Value>>())
    const known = ofKb.get(audience)
    if (known !== undefined && known.main === main) return known.value
    const value = make()
    ofKb.set(audience, { main, value })
    value.catch(() => ofKb.delete(audience))
    return value
  }
}
