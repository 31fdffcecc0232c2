import { actorOf, type Caller } from '../../rules/access/caller.ts'
import type { Source } from '../../state/sources/source.ts'
import type { Context } from '../context.ts'
import { viewFor } from './kb-view.ts'

/** Returns whether a Source is visible to a caller. */
export type SourceSight = (source: Pick<Source, 'tags' | 'uploader' | 'fileType' | 'extractedAt'>) => boolean

/** File types whose text may begin with front matter. */
const mayOpenHidden: ReadonlySet<string> = new Set(['md', 'txt', 'html', 'htm'])

/**
 * Returns which Sources of a knowledge base are visible to a caller. A Source whose own text may hide it is visible only after it has been
 * extracted. Its earlier events are shown, since they do not name it. A curator sees all, so the repository is not opened for one. @throws
 * {GanglionError} `not_found`, `unavailable`
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
