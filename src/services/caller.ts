import type { Role } from '../contract/vocabulary.ts'
import type { Actor } from '../knowledge/candidate.ts'

/** Who calls: an API key that was found good. */
export type Caller = {
  keyId: string
  /** Of the key, for people. */
  name: string
  tenantId: string
  role: Role
  /** Connectors that the key may speak as. */
  connectors: readonly string[]
}

export function actorOf({ keyId, name }: Pick<Caller, 'keyId' | 'name'>): Actor {
  return { id: `key:${keyId}`, name }
}
