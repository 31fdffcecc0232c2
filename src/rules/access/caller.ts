import type { GitFetch, KeyAudience, Role } from '../../contract/vocabulary.ts'
import type { Actor } from '../candidates/candidate.ts'

export type Caller = {
  /** `key:<id>`, `user:<id>` or `visitor:<id>`. */
  id: string
  /** Of the key or the person, for people. */
  name: string
  tenantId: string
  /** Of a person: what the API lets them do. An admin is a curator here. */
  role: Role
  /** Connectors that the key may speak as. */
  connectors: readonly string[]
  /** Of a key that is no curator's. */
  git?: GitFetch
  /** Audience that a reader key may ask for beside its own. `public`: a visitor of a site, who is served as nothing else. */
  audience?: KeyAudience | 'public'
  /** Of a person: where the request comes from. */
  address?: string
}

export function actorOf({ id, name }: Pick<Caller, 'id' | 'name'>): Actor {
  return { id, name }
}

/** The caller's own id, without its kind. */
export function bareId({ id }: Pick<Caller, 'id'>): string {
  return id.slice(id.indexOf(':') + 1)
}

export function isPerson({ id }: Pick<Caller, 'id'>): boolean {
  return id.startsWith('user:')
}

/** Whether it is somebody of whom nothing is known, on a page of others. */
export function isVisitor({ id }: Pick<Caller, 'id'>): boolean {
  return id.startsWith('visitor:')
}

/** Whether it is one human being, and no program. */
export function isHuman(caller: Pick<Caller, 'id'>): boolean {
  return isPerson(caller) || isVisitor(caller)
}
