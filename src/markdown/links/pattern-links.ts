import type { WikiLink } from '../../rules/neurons/neuron.ts'
import { closesFence } from '../../rules/text/fence.ts'
import { linesOf } from '../parse/split-blocks.ts'
import { parseWikiLinkText } from '../parse/wiki-link-text.ts'
import { parseDestination } from './markdown-link.ts'

const fence = /^[\s>*+\-\d.)]*(`{3,}(?=[^`]*$)|~{3,})/
const codeSpan = /(?<!`)(`+)(?!`)[^`]*(?<!`)\1(?!`)/g
/** A wiki link, or a Markdown link. */
export const linkPattern = /(!?)(?:\[\[((?:[^[\]]|\[[^[\]]*\])+)\]\]|\[[^[\]]*\]\(<?([^\s<>()]+)>?\))/g

/**
 * What looks like a link in a text that is too complex to parse, line by line: outside fences, and code spans that end on their line.
 * Takes linear time.
 * @param line 1-based line of the page that the text begins on
 */
export function patternLinks(source: string, line: number): WikiLink[] {
  const links: WikiLink[] = []
  let code: string | undefined
  for (const [index, { text }] of linesOf(source).entries()) {
    const [, marker] = fence.exec(text) ?? []
    if (code !== undefined) code = closesFence(text.replace(/^[\s>]+/, ''), code) ? undefined : code
    else if (marker !== undefined) code = marker
    else links.push(...linksInLine(text).map((found) => ({ ...found, line: line + index })))
  }
  return links
}

/** The links of one line or of a front matter's text, by their pattern. */
export function linksInLine(text: string): Omit<WikiLink, 'line'>[] {
  return Array.from(text.replace(codeSpan, '').matchAll(linkPattern), ([, mark, wiki, url]) => {
    const embed = mark === '!'
    if (wiki !== undefined) return { parsed: parseWikiLinkText(wiki), embed }
    const destination = parseDestination(url ?? '')
    return { parsed: destination && { ...destination, form: 'markdown' as const }, embed }
  }).flatMap(({ parsed, embed }) => (parsed === undefined ? [] : [{ ...parsed, embed }]))
}
