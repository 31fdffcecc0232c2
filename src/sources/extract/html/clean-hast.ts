import type { Element, ElementContent, Properties, Root, RootContent } from 'hast'
import { nodesOf } from '../../../markdown/nodes.ts'
import { isOutwardLink } from '../markdown/escape-markdown.ts'
import { markFootnotes } from './footnotes.ts'
import { collapse, findElement, isElement } from './hast.ts'
import { writableEmphasis } from './writable-emphasis.ts'

const dropped = new Set(
  [
    'script style template noscript head link meta base title',
    'nav dialog menu button input select textarea option datalist',
    'iframe frame frameset object embed applet canvas svg audio video map area',
  ].flatMap((names) => names.split(' ')),
)
const droppedRoles = new Set(['navigation', 'search', 'contentinfo', 'dialog', 'menu', 'menubar', 'toolbar'])
const hiddenStyle = /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)/i
const headings = new Set(['h1', 'h2', 'h3', 'h4', 'h5', 'h6'])
/** Elements that are written as their content. */
const plain = new Set(['span', 'font', 'small', 'big', 'abbr', 'acronym', 'time', 'data', 'bdi', 'bdo', 'ins', 'label'])
/** Maximum depth of elements. Deeper ones are replaced by their text, which bounds all later recursion. */
const maxDepth = 60

/** Returns the text of a page's body as a new tree, with absolute links only and plain tables. */
export function cleanHast(tree: Root): Root {
  markFootnotes(tree)
  const body = findElement(tree, 'body') ?? tree
  return { type: 'root', children: cleanChildren(body.children, 0) }
}

function cleanChildren(children: readonly RootContent[], depth: number): ElementContent[] {
  return writableEmphasis(
    children.flatMap((child) => {
      if (child.type === 'text') return [{ type: 'text' as const, value: child.value }]
      return child.type === 'element' && !isDropped(child) ? cleanElement(child, depth) : []
    }),
  )
}

function cleanElement(element: Element, depth: number): ElementContent[] {
  const { tagName, properties } = element
  if (depth === maxDepth) return text(collapse(visibleText(element)))
  if (tagName === 'img') return text(collapse(String(properties.alt ?? '')))
  if (headings.has(tagName)) return cleanHeading(element)
  const children = cleanChildren(element.children, depth + 1)
  if (tagName === 'a' && (isBlank(children) || !isOutwardLink(String(properties.href ?? '')))) return children
  if (plain.has(tagName)) return children
  const kept = { ...element, properties: keptProperties(element), children }
  return tagName === 'table' ? flattenTable(kept) : [kept]
}

/** Returns a heading as text only, without the signs that link to itself. */
function cleanHeading(element: Element): ElementContent[] {
  const title = collapse(visibleText(element)).replace(/\s*[#¶§🔗]+$/u, '')
  return title === '' ? [] : [{ ...element, properties: {}, children: text(title) }]
}

function visibleText(element: Element): string {
  let visible = ''
  const stack: RootContent[] = [element]
  for (let node = stack.pop(); node; node = stack.pop()) {
    if (node.type === 'text') visible += node.value
    else if (node.type === 'element' && node.tagName === 'br') visible += ' '
    else if (node.type === 'element' && node.tagName === 'img') visible += String(node.properties.alt ?? '')
    else if (node.type === 'element' && !isDropped(node)) stack.push(...node.children.toReversed())
  }
  return visible
}

function isDropped(element: Element): boolean {
  return isUnseen(element) || element.tagName === 'aside' || element.tagName === 'footer'
}

/** True if no reader sees the element as text of the page: it is hidden, a control, a menu, or no text at all. */
export function isUnseen({ tagName, properties }: Element): boolean {
  return (
    dropped.has(tagName) ||
    droppedRoles.has(String(properties.role)) ||
    (properties.hidden !== undefined && properties.hidden !== false && properties.hidden !== null) ||
    String(properties.ariaHidden) === 'true' ||
    hiddenStyle.test(String(properties.style ?? ''))
  )
}

/** Returns the properties that the conversion reads: links, footnotes, list numbers, tables and the language of code. */
function keptProperties({ tagName, properties }: Element): Element['properties'] {
  const { href, id, start, align, colSpan, rowSpan, className } = properties
  if (tagName === 'a') return { href }
  if (tagName.startsWith('footnote-')) return { id }
  if (tagName === 'ol') return { start }
  if (tagName === 'td' || tagName === 'th') return { align, colSpan, rowSpan }
  return tagName === 'code' || tagName === 'pre' ? { className } : {}
}

function isBlank(children: readonly ElementContent[]): boolean {
  return children.every((child) => child.type === 'text' && child.value.trim() === '')
}

function text(value: string): ElementContent[] {
  return value === '' ? [] : [{ type: 'text', value }]
}

const blocks = new Set([
  ...['p', 'div', 'section', 'article', 'ul', 'ol', 'li', 'dl', 'dt', 'dd', 'blockquote', 'pre', 'br', 'hr', 'figure'],
  ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'table', 'tr', 'td', 'th', 'header', 'main', 'address', 'figcaption'],
])
const tableParts = new Set(['thead', 'tbody', 'tfoot', 'tr', 'td', 'th', 'caption'])
const maxColumns = 100
/** Maximum number of cells that exist only because others span them. */
const maxSpanned = 10_000

/**
 * Returns a table in a form that Markdown supports: cells of one line, spans within bounds, its caption before it. A table
 * that lays out a page (one in another, headings in cells, a single column) becomes blocks.
 */
function flattenTable(table: Element): ElementContent[] {
  const rows = [...nodesOf(table)].filter((node) => isElement(node, 'tr'))
  if (isLayout(table, rows)) return [asBlocks(table)]
  let spanned = 0
  for (const [index, row] of rows.entries()) {
    for (const cell of row.children) {
      if (cell.type !== 'element') continue
      const colSpan = span(cell.properties.colSpan, maxColumns)
      const rowSpan = span(cell.properties.rowSpan, rows.length - index)
      spanned += colSpan * rowSpan - 1
      const { align } = cell.properties
      cell.properties = spanned > maxSpanned ? only({ align }) : only({ align, colSpan, rowSpan })
      cell.children = onOneLine(cell.children)
    }
  }
  const captions = table.children.filter((child) => isElement(child, 'caption'))
  return [...captions.map((caption) => ({ ...caption, tagName: 'p' })), table]
}

function isLayout(table: Element, rows: readonly Element[]): boolean {
  const widest = Math.max(0, ...rows.map((row) => row.children.filter(({ type }) => type === 'element').length))
  if (widest < 2) return true
  for (const node of nodesOf(table)) {
    if (node !== table && node.type === 'element' && /^(?:table|h[1-6])$/.test(node.tagName)) return true
  }
  return false
}

/** Turns a table into blocks, in place; tables in it stay tables. */
function asBlocks(table: Element): Element {
  const stack = [table]
  for (let part = stack.pop(); part; part = stack.pop()) {
    part.tagName = 'div'
    part.properties = {}
    for (const child of part.children) {
      if (child.type === 'element' && tableParts.has(child.tagName)) stack.push(child)
    }
  }
  return table
}

/** Blocks become their content, with a space between them. */
function onOneLine(children: readonly ElementContent[]): ElementContent[] {
  const space: ElementContent = { type: 'text', value: ' ' }
  return writableEmphasis(
    children.flatMap((child): ElementContent[] => {
      if (child.type !== 'element') return [child]
      const content = onOneLine(child.children)
      return blocks.has(child.tagName) ? [space, ...content, space] : [{ ...child, children: content }]
    }),
  )
}

function span(value: Properties[string], max: number): number {
  const count = Math.floor(Number(value))
  return count >= 1 ? Math.min(count, max) : 1
}

function only({ align, colSpan = 1, rowSpan = 1 }: Properties): Properties {
  return {
    ...(align ? { align } : {}),
    ...(Number(colSpan) > 1 ? { colSpan } : {}),
    ...(Number(rowSpan) > 1 ? { rowSpan } : {}),
  }
}
