import type { Nodes } from 'mdast'
import { parseMarkdown } from './parse-markdown.ts'

const maxLength = 16 * 1024
const maxHeading = 500
const atxHeading = /^ {0,3}#{1,6}(?:[ \t]+(?<text>.*?))??(?:[ \t]+#+)?[ \t]*$/
const underline = /^ {0,3}(?:=+|-+)[ \t]*$/
const fence = /^ {0,3}(?<marker>`{3,}(?=[^`]*$)|~{3,})/
/** A line that is no paragraph's, though an underline follows: blank, code, quote, list, HTML, table, rule. */
const noParagraph = /^(?:\s*$|\t| {4}| {0,3}(?:[>|<]|[-+*](?:\s|$)|\d{1,9}[.)](?:\s|$)|([-*_])(?:[ \t]*\1){2,}[ \t]*$))/
const plain = /^[^`*_[\]<>\\&$~!]*$/

/**
 * The text of the first heading of at most 500 characters, as a page without a title of its own is called by it; sought in the
 * first 16 KB, at the top level. Only the heading itself is given to the parser, so hostile text costs nothing.
 */
export function firstHeading(content: string): string | undefined {
  let closing: RegExp | undefined
  let isComment = false
  let before = ''
  for (const line of content.slice(0, maxLength).split(/\r\n?|\n/)) {
    const last = before
    before = ''
    if (isComment) isComment = !line.includes('-->')
    else if (closing !== undefined) closing = closing.test(line) ? undefined : closing
    else {
      const marker = fence.exec(line)?.groups?.marker
      const text = underline.test(line) && !noParagraph.test(last) ? last : atxHeading.exec(line)?.groups?.text
      const heading = text === undefined ? '' : headingText(text.trim())
      if (heading !== '') return heading
      if (marker !== undefined) closing = new RegExp(`^ {0,3}${marker}${marker[0]}*[ \\t]*$`)
      else if (/^ {0,3}<!--/.test(line)) isComment = !line.includes('-->')
      else before = line
    }
  }
  return undefined
}

function headingText(source: string): string {
  if (source.length > maxHeading || plain.test(source)) return source.slice(0, maxHeading)
  const [heading] = parseMarkdown(`# ${source}`).children
  return heading === undefined ? '' : textOf(heading).trim()
}

function textOf(node: Nodes): string {
  if (node.type === 'wikiLink') return node.link.alias ?? node.link.target
  if ('value' in node) return node.value
  return 'children' in node ? node.children.map(textOf).join('') : ''
}
