import { GanglionError } from '../../contract/errors.ts'
import type { Caller } from '../../rules/access/caller.ts'

/** Throws `insufficient_role` unless the caller may see and write whole pages, comments and front matter included. */
export function requireCurator({ role }: Pick<Caller, 'role'>): void {
  if (role !== 'curator') throw new GanglionError('insufficient_role')
}
