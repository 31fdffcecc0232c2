import type { BlockDiff } from '../../compare/block-diff.ts'
import type { LineDiff } from '../../compare/line-diff.ts'
import type { Caller } from '../caller.ts'
import type { Ganglion } from '../ganglion.ts'
import { renderMarkdown } from './render-markdown.ts'

/** Two versions of a page's content; `before` is null where the page is new. */
export type Versions = { before: string | null; after: string }

export type { BlockDiff, LineDiff }

/** How the Markdown differs, by line and by word. */
export function compareLines(ganglion: Ganglion, { before, after }: Versions): Promise<LineDiff> {
  return ganglion.diffs.lines(before, after)
}

/**
 * How the pages differ as the caller sees them: by block, in safe HTML without ids.
 * @throws {GanglionError} `not_found`
 */
export async function comparePages(
  ganglion: Ganglion,
  caller: Caller,
  { before, after, ...page }: Versions & { kb: string; path?: string | undefined },
): Promise<BlockDiff> {
  const blocksOf = async (content: string) =>
    (await renderMarkdown(ganglion, caller, { ...page, content, idPrefix: null })).blocks
  return ganglion.diffs.blocks(before === null ? [] : await blocksOf(before), await blocksOf(after))
}
