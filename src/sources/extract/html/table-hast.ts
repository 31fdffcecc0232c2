import type { Element, ElementContent, Properties } from 'hast'
import { nodesOf } from '../../../markdown/nodes.ts'
import { isElement } from './hast.ts'
import { writableEmphasis } from './writable-emphasis.ts'

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
export function flattenTable(table: Element): ElementContent[] {
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
