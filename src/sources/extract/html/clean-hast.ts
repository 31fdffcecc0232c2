import type { Element, ElementContent, Root, RootContent } from 'hast'
import { isOutwardLink } from '../markdown/escape-markdown.ts'
import { markFootnotes } from './footnotes.ts'
import { collapse, findElement } from './hast.ts'
import { flattenTable } from './table-hast.ts'
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
