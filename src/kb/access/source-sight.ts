import type { Caller } from '../../rules/access/caller.ts'
import type { Source } from '../../state/sources/source.ts'
import type { Context } from '../context.ts'
import { visibilityFor } from './visibility.ts'

/** Whether a Source is visible to somebody. */
export type SourceSight = (source: Pick<Source, 'tags' | 'uploader'>) => boolean

/**
 * Returns which Sources of a knowledge base are visible to a caller. A curator sees all, so their repository is not opened.
 * @throws {GanglionError} `not_found`, `unavailable`
 */
export async function sourceSight(ctx: Context, caller: Caller, kbId: string): Promise<SourceSight> {
  if (caller.role === 'curator') return () => true
  const { ofSource } = await visibilityFor(caller, await ctx.kb(caller.tenantId, kbId))
  return ofSource
}
