import { atxHeading } from '../text/atx-heading.ts'
import { fold } from '../text/fold.ts'
import { splitAnchor } from '../text/heading-anchor.ts'
import { unfencedLines } from '../text/unfenced-lines.ts'
import type { LinkForm } from './written-link.ts'

/** Characters of a line above which it is taken for none: the markup of its links would take quadratic time. */
const maxLength = 1000
const underline = /^ {0,3}(?:=+|-+)[ \t]*$/

const blockId = /(?:^|\s)\^([a-z0-9-]+)\s*$/i
const htmlId = /<[a-z][^<>]*\s(?:id|name)\s*=\s*["']?([^\s"'<>]+)/gi

/**
 * The keys of what links to places of a page name: headings, see {@link headingKey}, ids that headings and HTML give, and blocks (`^id`).
 * Reads lines, not the syntax tree: a line that only looks like a heading counts too, so a link to it is never called broken.
 */
export function placeKeys(content: string): Set<string> {
  const keys = [...headingTexts(content)].flatMap((text) => [headingKey(text), headingKey(splitAnchor(text).id ?? '')])
  for (const { line } of unfencedLines(content)) {
    const [, block] = line.includes('^') && line.length <= maxLength ? (blockId.exec(line) ?? []) : []
    if (block !== undefined) keys.push(linkedPlaceKey(`^${block}`))
    if (line.includes('<')) keys.push(...Array.from(line.matchAll(htmlId), ([, id = '']) => headingKey(id)))
  }
  return new Set(keys.filter((key) => key !== '').flatMap((key) => [key, joined(key)]))
}

/** Whether a page with these places lacks the one that a link names. Renderers make ids of headings in several ways, which this allows for. */
export function lacksPlace(keys: ReadonlySet<string>, { heading, form }: { heading: string; form: LinkForm }): boolean {
  const key = linkedPlaceKey(heading)
  if (key === '' || keys.has(key)) return false
  if (form !== 'markdown' || key.startsWith('^')) return true
  // Of a file on a forge, and of a document's text.
  if (/^L[0-9]+|[=~]|^\//.test(heading)) return false
  return !keys.has(joined(key)) && !keys.has(joined(key.replace(/ [0-9]+$/, '')))
}

/** As renderers have it that leave signs out: `whatsnew` for "What's new". */
function joined(key: string): string {
  return key.replaceAll(' ', '')
}

/** The headings of a page as a link to them names them, in their order; see {@link placeKeys}. */
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
  return splitAnchor(text)
    .text.replace(/!?\[\[(?:[^\]|]*\|)?([^\]|]*)\]\]/g, '$1')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .trim()
}

/** What a heading and a link to it have in common: letters and digits, without case, diacritics and markup. */
export function headingKey(text: string): string {
  return fold(headingLabel(text))
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, ' ')
    .trim()
}

/** The key of the heading that a link names, `Part#Chapter` by its last, or of the block. */
export function linkedPlaceKey(heading: string): string {
  const last = heading.slice(heading.lastIndexOf('#') + 1).trim()
  return last.startsWith('^') ? last.toLowerCase() : headingKey(last)
}

/** The id of a heading or block on its page, by the heading's text or by what a link names: the same for both. */
export function headingId(text: string): string {
  const [, block] = /(?:^|#)\s*\^([a-z0-9-]+)\s*$/i.exec(text) ?? []
  return block === undefined ? linkedPlaceKey(text).replaceAll(' ', '-') : `^${block.toLowerCase()}`
}
