import type { Nodes } from 'mdast'
import type { NeuronFields } from '../rules/neurons/neuron.ts'
import { atxHeading, splitAnchor } from '../rules/text/atx-heading.ts'
import { cutText } from '../rules/text/whole-characters.ts'
import { withoutComments } from './comments.ts'
import { parseMarkdown } from './parse/parse-markdown.ts'
import { linesOf } from './parse/split-blocks.ts'

/** Maximum characters that are searched for a heading, and of the heading itself. */
const maxLength = 16 * 1024
const maxHeading = 500
const underline = /^ {0,3}=+[ \t]*$/
/** Matches a line that begins a block other than a paragraph: code, quote, list, HTML, table, rule, heading, fence. */
const otherBlock =
  /^(?:\t| {4}| {0,3}(?:[>|<]|#{1,6}(?:\s|$)|`{3}|~{3}|[-+*](?:\s|$)|\d{1,9}[.)](?:\s|$)|([-*_])(?:[ \t]*\1){2,}[ \t]*$))/
const plain = /^[^`*_[\]<>\\&$~!]*$/
/**
 * Returns the title of a Neuron: the `title` of its front matter, else the heading of level 1 that opens its content, else its file name.
 */
export function neuronTitle(
  { fields, content }: { fields: Pick<NeuronFields, 'title'>; content: string },
  path: string,
): string {
  return ownTitle(fields, content) ?? fileTitle(path)
}

/** Returns the title that a page itself contains. */
export function ownTitle({ title }: Pick<NeuronFields, 'title'>, content: string): string | undefined {
  return title !== undefined && title.trim() !== '' ? title : openingHeading(content)
}

/** Returns the name of a file without its suffix. */
export function fileTitle(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1).replace(/\.(?:md|markdown)$/i, '')
}

/**
 * Returns the text of the heading of level 1 that opens a content, at most 500 characters. Only blank lines and comments may precede it.
 * Obsidian's comments in it are removed, since a title is shown to everybody who may see the page. Only the heading is given to the parser,
 * so hostile text costs nothing.
 */
export function openingHeading(content: string): string | undefined {
  const head = withoutComments(content.slice(0, maxLength))
  const opening = head.slice(openingStart(head))
  const source = headingSource(linesOf(opening).map(({ text }) => text))
  return source === undefined ? undefined : headingText(splitAnchor(source.trim()).text) || undefined
}

/** Returns the offset after blank lines and comments. */
function openingStart(head: string): number {
  for (let at = 0; ; ) {
    at += /^(?:[ \t]*(?:\r\n|[\r\n]))*/.exec(head.slice(at))?.[0].length ?? 0
    const end = /^ {0,3}<!--/.test(head.slice(at, at + 7)) ? head.indexOf('-->', at) : -1
    const lineEnd = end < 0 ? null : /^-->[ \t]*(?:\r\n|[\r\n]|$)/.exec(head.slice(end))
    if (lineEnd === null) return at
    at = end + lineEnd[0].length
  }
}

function headingSource([first = '', ...others]: readonly string[]): string | undefined {
  const atx = atxHeading(first)
  if (atx?.level === 1) return atx.text
  const lines = [first]
  if (first.trim() === '' || otherBlock.test(first)) return undefined
  for (const line of others) {
    if (underline.test(line)) return lines.join(' ')
    if (line.trim() === '' || otherBlock.test(line)) return undefined
    lines.push(line.trim())
  }
  return undefined
}

function headingText(source: string): string {
  if (source.length > maxHeading || plain.test(source)) return cutText(source, maxHeading)
  const [heading] = parseMarkdown(`# ${source}`).children
  return heading === undefined ? '' : textOf(heading).trim()
}

function textOf(node: Nodes): string {
  if (node.type === 'wikiLink') return node.link.alias ?? node.link.target
  if ('value' in node) return node.value
  return 'children' in node ? node.children.map(textOf).join('') : ''
}
