import type { Element, Root } from 'hast'
import { become, element, elementsOf, textOf } from './elements.ts'

/** Blocks whose text direction follows their own first letter. */
const directed = new Set([
  'p',
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
  'ul',
  'ol',
  'li',
  'blockquote',
  'td',
  'th',
  'dt',
  'dd',
  'summary',
])
/** Containers that need a direction of their own, since `auto` does not look into blocks that have one. */
const containers = new Set(['ul', 'ol', 'blockquote', 'table'])
const rightToLeft =
  /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u
/** Attributes of blocks that scroll sideways, which makes them scrollable by keyboard. */
const scrolled = { tabIndex: 0, role: 'group' }

/** Makes the blocks of a page accessible: text direction, keyboard scrolling, and labels for task checkboxes. */
export function frameBlocks(root: Root): void {
  for (const { element: found } of elementsOf(root)) {
    const { tagName, properties } = found
    if (directed.has(tagName)) properties.dir = 'auto'
    if (containers.has(tagName) && rightToLeft.test(/\p{L}/u.exec(textOf(found))?.[0] ?? '')) properties.dir = 'rtl'
    if (tagName === 'input') properties.ariaLabel = properties.checked === true ? 'Done' : 'To do'
    if (tagName === 'th' && textOf(found).trim() === '' && !hasImage(found)) found.tagName = 'td'
    if (tagName === 'pre') Object.assign(properties, { ...scrolled, ariaLabel: 'Code' })
    if (tagName === 'table') frame(found)
  }
}

function frame(table: Element): void {
  const { tagName, properties, children } = table
  const properTable = element(tagName, properties, children)
  become(table, element('div', { className: ['table-scroll'], ...scrolled, ariaLabel: 'Table' }, [properTable]))
}

function hasImage(cell: Element): boolean {
  return cell.children.some((child) => child.type === 'element' && child.tagName === 'img')
}
