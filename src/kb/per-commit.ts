import type { Audience } from '../rules/access/audience.ts'
import type { ReadableKb } from './readable-kb.ts'

type Kept<Value> = { main: string | undefined; value: Promise<Value> }

/** Caches a value derived from a whole knowledge base for an audience, until main moves. */
export class PerCommit<Value> {
  readonly #kept = new WeakMap<object, Map<Audience, Kept<Value>>>()

  get(kb: Pick<ReadableKb, 'heads'>, audience: Audience, make: () => Promise<Value>): Promise<Value> {
    const { main } = kb.heads()
    const ofKb = this.#kept.get(kb) ?? new Map<Audience, Kept<Value>>()
    this.#kept.set(kb, ofKb)
    const known = ofKb.get(audience)
    if (known !== undefined && known.main === main) return known.value
    const value = make()
    ofKb.set(audience, { main, value })
    value.catch(() => ofKb.delete(audience))
    return value
  }
}
