import type { Nodes } from 'mdast'
import { parseMarkdown } from './parse-markdown.ts'

const maxLength = 16 * 1024
const atxHeading = /^ {0,3}#{1,6}[ \t]+(?<text>[^\s#][^`*_[\]<>\\&$#\n]*?)[ \t]*$/
const mayBeHeading = /^ {0,3}(?:#{1,6}[ \t]|=+[ \t]*$|-+[ \t]*$)/m

/**
 * The text of the first heading, as a page without a title of its own is called by it; sought in the first 16 KB.
 * Not safe on hostile text, see `parseMarkdown`.
 */
export function firstHeading(content: string): string | undefined {
  const first = atxHeading.exec(content.trimStart().split('\n', 1)[0]?.trimEnd() ?? '')?.groups?.text
  if (first !== undefined) return first
  const beginning = content.slice(0, maxLength)
  if (!mayBeHeading.test(beginning)) return undefined
  const heading = parseMarkdown(beginning).children.find(({ type }) => type === 'heading')
  const text = heading === undefined ? '' : textOf(heading).trim()
  return text === '' ? undefined : text
}

function textOf(node: Nodes): string {
  if (node.type === 'wikiLink') return node.link.alias ?? node.link.target
  if ('value' in node) return node.value
  return 'children' in node ? node.children.map(textOf).join('') : ''
}
