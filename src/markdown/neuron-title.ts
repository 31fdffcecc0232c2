import type { Nodes } from 'mdast'
import type { NeuronFields } from '../rules/neurons/neuron.ts'
import { atxHeading } from '../rules/text/atx-heading.ts'
import { splitAnchor } from '../rules/text/heading-anchor.ts'
import { cutText } from '../rules/text/whole-characters.ts'
import { withoutComments } from './comments.ts'
import { parseMarkdown } from './parse/parse-markdown.ts'
import { linesOf } from './parse/split-blocks.ts'

/** A heading is looked for in so many characters, and may itself have so many. */
const maxLength = 16 * 1024
const maxHeading = 500
const underline = /^ {0,3}=+[ \t]*$/
/** A line that begins another block than a paragraph: code, quote, list, HTML, table, rule, heading, fence. */
const otherBlock =
  /^(?:\t| {4}| {0,3}(?:[>|<]|#{1,6}(?:\s|$)|`{3}|~{3}|[-+*](?:\s|$)|\d{1,9}[.)](?:\s|$)|([-*_])(?:[ \t]*\1){2,}[ \t]*$))/
const plain = /^[^`*_[\]<>\\&$~!]*$/
/**
 * What a Neuron is called, wherever a title is asked for: the `title` of its front matter, else the heading of level 1 that opens
 * its content, else the name of its file.
 */
export function neuronTitle(
  { fields, content }: { fields: Pick<NeuronFields, 'title'>; content: string },
  path: string,
): string {
  return ownTitle(fields, content) ?? fileTitle(path)
}

/** The title that a page gives itself. */
export function ownTitle({ title }: Pick<NeuronFields, 'title'>, content: string): string | undefined {
  return title !== undefined && title.trim() !== '' ? title : openingHeading(content)
}

/** The name of a file without its suffix. */
export function fileTitle(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1).replace(/\.(?:md|markdown)$/i, '')
}

/**
 * The text of the heading of level 1 with which a content opens, of at most 500 characters; nothing but blank lines and comments
 * may stand before it. What Obsidian's comments say is no part of it: a title is shown to all who may see the page. Only the heading
 * itself is given to the parser, so hostile text costs nothing.
 */
export function openingHeading(content: string): string | undefined {
  const head = withoutComments(content.slice(0, maxLength))
  const opening = head.slice(openingStart(head))
  const source = headingSource(linesOf(opening).map(({ text }) => text))
  return source === undefined ? undefined : headingText(splitAnchor(source.trim()).text) || undefined
}

/** The offset behind blank lines and comments. */
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
