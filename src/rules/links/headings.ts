import { atxHeading, splitAnchor } from '../text/atx-heading.ts'
import { unfencedLines } from '../text/fence.ts'
import { fold } from '../text/fold.ts'
import type { LinkForm } from './written-link.ts'

/** Maximum characters of a heading: removing the markup of links takes quadratic time. */
const maxLength = 1000
const underline = /^ {0,3}(?:=+|-+)[ \t]*$/

const blockId = /(?:^|\s)\^([a-z0-9-]+)\s*$/i
const htmlId = /<[a-z][^<>]*\s(?:id|name)\s*=\s*["']?([^\s"'<>]+)/gi

/**
 * Returns the keys of all places that a link can name: headings (see {@link headingKey}), ids of headings and of HTML, and blocks (`^id`).
 * Scans lines instead of the syntax tree: a line that merely looks like a heading counts too, so a link to it is never reported as broken.
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

/** True if a page with these places lacks the one that a link names. Allows for the different heading ids of common renderers. */
export function lacksPlace(keys: ReadonlySet<string>, { heading, form }: { heading: string; form: LinkForm }): boolean {
  const key = linkedPlaceKey(heading)
  if (key === '' || keys.has(key)) return false
  if (form !== 'markdown' || key.startsWith('^')) return true
  // Line numbers of a forge (`#L10`) and text fragments of a browser (`#:~:text=`) are no headings.
  if (/^L[0-9]+|[=~]|^\//.test(heading)) return false
  return !keys.has(joined(key)) && !keys.has(joined(key.replace(/ [0-9]+$/, '')))
}

/** Joins words as renderers do that drop punctuation: `whatsnew` for "What's new". */
function joined(key: string): string {
  return key.replaceAll(' ', '')
}

/** Returns the headings of a page in order, as links name them; see {@link placeKeys}. */
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

/** Replaces each link in a heading by its label. */
function headingLabel(text: string): string {
  return splitAnchor(text)
    .text.replace(/!?\[\[(?:[^\]|]*\|)?([^\]|]*)\]\]/g, '$1')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .trim()
}

/** Returns the key under which a heading and links to it meet: letters and digits, without case, diacritics and markup. */
export function headingKey(text: string): string {
  return fold(headingLabel(text))
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, ' ')
    .trim()
}

/** Returns the key of the block or heading that a link names; of `Part#Chapter` the last part counts. */
export function linkedPlaceKey(heading: string): string {
  const last = heading.slice(heading.lastIndexOf('#') + 1).trim()
  return last.startsWith('^') ? last.toLowerCase() : headingKey(last)
}

/** Returns the HTML id of a heading or block. The heading's text and a link to it give the same id. */
export function headingId(text: string): string {
  const [, block] = /(?:^|#)\s*\^([a-z0-9-]+)\s*$/i.exec(text) ?? []
  return block === undefined ? linkedPlaceKey(text).replaceAll(' ', '-') : `^${block.toLowerCase()}`
}
