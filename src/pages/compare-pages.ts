import type { BlockDiff } from '../compare/block-diff.ts'
import { DiffPool } from '../compare/diff-pool.ts'
import type { LineDiff } from '../compare/line-diff.ts'
import type { Context } from '../kb/context.ts'
import type { Caller } from '../rules/access/caller.ts'
import { renderMarkdown } from './render-page.ts'

/** Two versions of a page's content; `before` is null for a new page. */
export type ComparedVersions = { before: string | null; after: string }

export type { BlockDiff, LineDiff }

/** Returns the differences of the Markdown, by line and by word. */
export function compareLines(ctx: Context, { before, after }: ComparedVersions): Promise<LineDiff> {
  return ctx.threads.of(DiffPool).lines(before, after)
}

/** Returns the differences of the pages as the caller sees them: by block, in safe HTML without ids. @throws {GanglionError} `not_found` */
export async function comparePages(
  ctx: Context,
  caller: Caller,
  { before, after, ...page }: ComparedVersions & { kb: string; path?: string | undefined },
): Promise<BlockDiff> {
  const blocksOf = async (content: string) =>
    (await renderMarkdown(ctx, caller, { ...page, content, idPrefix: null })).blocks
  return ctx.threads.of(DiffPool).blocks(before === null ? [] : await blocksOf(before), await blocksOf(after))
}
