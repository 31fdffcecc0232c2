import type { Context } from '../../kb/context.ts'
import type { Caller } from '../../rules/access/caller.ts'
import { type Conflict, mergeMarked } from '../../rules/neurons/merge.ts'
import { unixLines } from '../../rules/text/line-endings.ts'
import { type OpenPage, openPage } from './open-page.ts'

export type Rebased = {
  latest: OpenPage
  /** Merged text, with markers around the places that conflict. */
  content: string
  conflicts: Conflict[]
}

/**
 * Rebases an edited text onto the current version of its page.
 * @throws {GanglionError} `insufficient_role`; `not_found` also for a deleted page
 */
export async function rebasePage(
  ctx: Context,
  caller: Caller,
  { content: typed, base, ...page }: { kb: string; seqId: string; base: string; content: string },
): Promise<Rebased> {
  const [edited, latest] = [await openPage(ctx, caller, { ...page, at: base }), await openPage(ctx, caller, page)]
  const { text: content, conflicts } = mergeMarked(edited.content, latest.content, unixLines(typed))
  return { latest, content, conflicts }
}
