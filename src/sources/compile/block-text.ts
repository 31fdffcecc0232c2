import { inlineText } from './inline-text.ts'
import type { SourceBlock } from './source-blocks.ts'

const address = /(?:https?:\/\/|www\.)\S+/gi

/** The Markdown of blocks that become a page, with headings that begin at level 2. */
export function pageText(blocks: readonly SourceBlock[]): string {
  let top = 6
  for (const { depth } of blocks) if (depth > 0) top = Math.min(top, depth)
  return blocks
    .map(({ depth, lines }) => {
      const text = lines.join('\n')
      return depth === 0 ? text : text.replace(/^ {0,3}#+/, '#'.repeat(Math.min(6, depth - top + 2)))
    })
    .join('\n\n')
}

/** Approximate visible text of paragraphs and lists, one per line, without URLs. */
export function proseOf(blocks: readonly SourceBlock[]): string {
  return blocks
    .filter(({ kind }) => kind === 'paragraph' || kind === 'list')
    .map(({ kind, lines }) => (kind === 'list' ? lines.map(inlineText).join(',\n') : inlineText(lines.join('\n'))))
    .join('.\n')
    .replace(address, '.')
}
