import { GanglionError } from '../../contract/errors.ts'
import type { GitFetch, KeyAudience, Role } from '../../contract/vocabulary.ts'
import type { Actor } from '../candidates/candidate.ts'

export type Caller = {
  /** Id with its kind: `key:<id>`, `user:<id>` or `visitor:<id>`. */
  id: string
  /** Display name of the key or the person. */
  name: string
  tenantId: string
  /** Role in the API. An administrator is a curator here. */
  role: Role
  /** True for an administrator: a person, or a key of the role `admin`. */
  isAdmin?: boolean
  /** Connectors that the key may name as its own. */
  connectors: readonly string[]
  /** Right of a key to fetch with git. Absent for keys of curators. */
  git?: GitFetch
  /** Audience that a reader key may request besides its own. `public`: a visitor of a site, who is served nothing else. */
  audience?: KeyAudience | 'public'
  /** Network address of a person's request. */
  address?: string
}

export function actorOf({ id, name }: Pick<Caller, 'id' | 'name'>): Actor {
  return { id, name }
}

/** Returns the caller's id without its kind: `42` for `key:42`. */
export function bareId({ id }: Pick<Caller, 'id'>): string {
  return id.slice(id.indexOf(':') + 1)
}

/** @throws {GanglionError} `insufficient_role` unless the caller is an administrator */
export function requireAdmin({ isAdmin }: Pick<Caller, 'isAdmin'>): void {
  if (isAdmin !== true) throw new GanglionError('insufficient_role')
}

export function isPerson({ id }: Pick<Caller, 'id'>): boolean {
  return id.startsWith('user:')
}

/** True for an anonymous visitor of another website that embeds the widget. */
export function isVisitor({ id }: Pick<Caller, 'id'>): boolean {
  return id.startsWith('visitor:')
}

/** True if the caller is a human being, not a program. */
export function isHuman(caller: Pick<Caller, 'id'>): boolean {
  return isPerson(caller) || isVisitor(caller)
}
