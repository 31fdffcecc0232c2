import type { Blockquote, Heading, ListItem, Nodes, Paragraph, Root } from 'mdast'
import { headingId } from '../rules/links/headings.ts'
import { splitAnchor } from '../rules/text/atx-heading.ts'
import { append } from './append.ts'

const calloutType = /^\[![^\]\n]+\][+-]?[ \t]*/
const blockId = /\s\^[A-Za-z0-9-]+$/
const onlyBlockId = /^\^[A-Za-z0-9-]+$/

/**
 * Removes from the tree what Obsidian does not show: the type of a callout (`> [!note] Title`), whose title then has its own line, and the
 * id at the end of a block (` ^abc123`) or a heading (` {#setup}`), which becomes the id of its element.
 */
export function hideMarks(tree: Root): void {
  const open: Nodes[] = [tree]
  for (let node = open.pop(); node; node = open.pop()) {
    if (node.type === 'paragraph') takeBlockId(node, node)
    else if (node.type === 'heading') {
      takeAnchor(node)
      hideBlockId(node)
    } else if (node.type === 'blockquote') hideCalloutType(node)
    if (node.type === 'listItem' && node.children[0]?.type === 'paragraph') {
      // The paragraph of a tight list item has no element of its own.
      takeBlockId(node.children[0], node)
      append(open, node.children.slice(1))
    } else if ('children' in node && node.type !== 'paragraph') append(open, node.children)
  }
}

/** Removes the block id from the end of a paragraph or heading. */
function withoutBlockId(source: string): string {
  return onlyBlockId.test(source) ? '' : source.replace(blockId, '')
}

function takeBlockId(paragraph: Paragraph, named: Paragraph | ListItem): void {
  const id = hideBlockId(paragraph)
  if (id !== undefined) named.data = { ...named.data, hProperties: { id: headingId(id) } }
}

function takeAnchor(heading: Heading): void {
  const last = heading.children.at(-1)
  const { text, id } = last?.type === 'text' ? splitAnchor(last.value) : {}
  if (last?.type !== 'text' || text === undefined || id === undefined) return
  last.value = text
  heading.data = { ...heading.data, hProperties: { id: headingId(id) } }
}

/** Removes the block id at the end of a block. @returns the id */
function hideBlockId({ children }: Paragraph | Heading): string | undefined {
  const last = children.at(-1)
  if (last?.type !== 'text') return undefined
  const { value } = last
  const beginsLine = children.length === 1 || children.at(-2)?.type === 'break'
  last.value = beginsLine ? withoutBlockId(value) : value.replace(blockId, '')
  return last.value === value ? undefined : value.slice(value.lastIndexOf('^'))
}

function hideCalloutType({ children: [paragraph] }: Blockquote): void {
  if (paragraph?.type !== 'paragraph') return
  const { children } = paragraph
  const [first] = children
  if (first?.type !== 'text' || !calloutType.test(first.value)) return
  first.value = first.value.replace(calloutType, '')
  const index = children.findIndex((child) => child.type === 'text' && child.value.includes('\n'))
  const node = children[index]
  if (node?.type !== 'text') return
  const lineEnd = node.value.indexOf('\n')
  const [title, rest] = [node.value.slice(0, lineEnd), node.value.slice(lineEnd + 1)]
  children.splice(index, 1, { type: 'text', value: title }, { type: 'break' }, { type: 'text', value: rest })
}
