import { actorOf, type Caller } from '../../rules/access/caller.ts'
import type { Source } from '../../state/sources/source.ts'
import type { Context } from '../context.ts'
import { viewFor } from './kb-view.ts'

/** Whether a Source is visible to somebody. */
export type SourceSight = (source: Pick<Source, 'tags' | 'uploader' | 'fileType' | 'extractedAt'>) => boolean

/** Types of files whose text may begin with front matter. */
const mayOpenHidden: ReadonlySet<string> = new Set(['md', 'txt', 'html', 'htm'])

/**
 * Returns which Sources of a knowledge base are visible to a caller: one whose own text may hide it, once that has been read. Events of
 * it are told before, since they do not name it. A curator sees all, so their repository is not opened.
 * @throws {GanglionError} `not_found`, `unavailable`
 */
export async function sourceSight(ctx: Context, caller: Caller, kbId: string): Promise<SourceSight> {
  if (caller.role === 'curator') return () => true
  const view = await viewFor(caller, await ctx.kb(caller.tenantId, kbId))
  const { id } = actorOf(caller)
  return (source) => {
    const isRead = source.extractedAt !== null || !mayOpenHidden.has(source.fileType)
    return (isRead || source.uploader.id === id) && view.seesSource(source)
  }
}
