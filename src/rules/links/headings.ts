import { atxHeading } from '../text/atx-heading.ts'
import { fold } from '../text/fold.ts'
import { unfencedLines } from '../text/unfenced-lines.ts'

/** Characters of a line above which it is taken for none: the markup of its links would take quadratic time. */
const maxLength = 1000
const underline = /^ {0,3}(?:=+|-+)[ \t]*$/

/**
 * The keys of a page's headings; see {@link headingKey}. Reads lines, not the syntax tree: a line that only looks like a heading
 * counts too, so a link to it is never called broken.
 */
export function headingKeys(content: string): Set<string> {
  return new Set([...headingTexts(content)].map(headingKey).filter((key) => key !== ''))
}

/** The headings of a page as a link to them names them, in their order; see {@link headingKeys}. */
export function headingsOf(content: string): string[] {
  return [...headingTexts(content)].filter((text) => headingKey(text) !== '').map(headingLabel)
}

function* headingTexts(content: string): Generator<string> {
  let before = ''
  for (const { line } of unfencedLines(content)) {
    const heading = line.length > maxLength ? '' : line
    const text = atxHeading(heading)?.text ?? (underline.test(heading) ? before : '')
    if (text !== '') yield text
    before = heading
  }
}

/** Without the markup of links. */
function headingLabel(text: string): string {
  return text
    .replace(/!?\[\[(?:[^\]|]*\|)?([^\]|]*)\]\]/g, '$1')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .trim()
}

/** What a heading and a link to it have in common: letters and digits, without case, diacritics and markup. */
export function headingKey(text: string): string {
  return fold(headingLabel(text))
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, ' ')
    .trim()
}

/** The key of the heading that a link names, `Part#Chapter` by its last; empty for a block's id. */
export function linkedHeadingKey(heading: string): string {
  const last = heading.slice(heading.lastIndexOf('#') + 1).trim()
  return last.startsWith('^') ? '' : headingKey(last)
}

/** The id of a heading or block on its page, by the heading's text or by what a link names: the same for both. */
export function headingId(text: string): string {
  const [, block] = /(?:^|#)\s*\^([a-z0-9-]+)\s*$/i.exec(text) ?? []
  return block === undefined ? linkedHeadingKey(text).replaceAll(' ', '-') : `^${block.toLowerCase()}`
}
