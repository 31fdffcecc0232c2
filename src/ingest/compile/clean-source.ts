import { linkKey } from '../../knowledge/link-target.ts'
import type { Extracted } from '../extracted.ts'
import { headingText } from './heading-text.ts'
import { linkableTitle, maxTitle } from './linkable-title.ts'
import { type SourceBlock, sourceBlocks } from './source-blocks.ts'

/** A document's own title, and its blocks without the heading that is that title. */
export type EntitledSource = { title: string; blocks: SourceBlock[] }

/** Blocks that may stand before the heading that shows a document's title. */
const maxBeforeTitle = 20
/** Of what could not be told apart from its other half otherwise. */
const maxName = 120

/**
 * A document's blocks and its title: as it calls itself, or its first heading if no other is of that level, or the name of its
 * file. Where a Neuron of another origin has the title (`taken`, as `linkKey` has them), with the name of its file.
 */
export function entitledSource(
  { title: own, markdown, searchOnlyFrom }: Pick<Extracted, 'title' | 'markdown' | 'searchOnlyFrom'>,
  filename: string,
  taken: ReadonlySet<string>,
): EntitledSource {
  const blocks = sourceBlocks(cleaned(firstLines(markdown, searchOnlyFrom)))
  const [first, ...others] = blocks
  const isHead =
    first !== undefined && first.depth > 0 && others.every(({ depth }) => depth === 0 || depth > first.depth)
  const heading = isHead ? headingText(first.lines[0] ?? '') : ''
  const stem = filename.replace(/\.[^.]*$/, '').replace(/[_\s]+/g, ' ')
  const chosen = [own ?? '', heading, stem, filename].map((text) => linkableTitle(text)).find((text) => text !== '')
  const title = chosen ?? 'Untitled'
  const shown = blocks
    .slice(0, maxBeforeTitle)
    .findIndex(
      ({ depth, lines }) => depth > 0 && linkKey(linkableTitle(headingText(lines[0] ?? ''))) === linkKey(title),
    )
  const suffix = ` (${linkableTitle(filename, maxName)})`
  return {
    title: taken.has(linkKey(title)) ? linkableTitle(title, maxTitle - suffix.length) + suffix : title,
    blocks: shown < 0 ? blocks : blocks.toSpliced(shown, 1),
  }
}

/** Up to the line before `end`, 1-based. */
function firstLines(text: string, end = Number.POSITIVE_INFINITY): string {
  let at = 0
  for (let line = 1; line < end; line++) {
    const next = text.indexOf('\n', at)
    if (next < 0) return text
    at = next + 1
  }
  return text.slice(0, at)
}

/** Without control characters, byte order marks and other ends of lines; lines stay in number. */
function cleaned(markdown: string): string {
  return markdown
    .toWellFormed()
    .replace(/\r\n/g, '\n')
    .replace(/[^\P{Cc}\t\n]|\uFEFF/gu, ' ')
}
