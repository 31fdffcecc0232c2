import type { Element, Root } from 'hast'
import type { Options } from 'rehype-remark'
import { nodesOf } from '../../../markdown/nodes.ts'
import { isElement } from './hast.ts'

const referenceTag = 'footnote-reference'
const definitionTag = 'footnote-definition'
const noteId = /^(?:footnote|endnote)-(?!ref-)[\w-]+$/
const backReference = /^#(?:footnote|endnote)-ref-/

/**
 * Renames, in place, list items `footnote-…` and the links to them to elements that `footnoteHandlers` know, since HTML has none for
 * footnotes. Removes links back to the text. The ids are those that mammoth writes.
 */
export function markFootnotes(tree: Root): void {
  const defined = new Set<string>()
  for (const node of nodesOf(tree)) {
    if (node.type !== 'element' || node.tagName !== 'ol') continue
    const items = node.children.filter((child) => isElement(child, 'li'))
    if (items.length === 0 || !items.every((item) => noteId.test(idOf(item)))) continue
    node.tagName = 'div'
    for (const item of items) {
      item.tagName = definitionTag
      defined.add(idOf(item))
    }
  }
  if (defined.size === 0) return
  for (const node of nodesOf(tree)) {
    if (!isElement(node, 'a')) continue
    const href = String(node.properties.href ?? '')
    if (backReference.test(href)) node.children = []
    else if (href.startsWith('#') && defined.has(href.slice(1))) {
      node.tagName = referenceTag
      node.properties = { id: href.slice(1) }
    }
  }
}

export const footnoteHandlers: NonNullable<Options['handlers']> = {
  [referenceTag]: (_state, node: Element) => ({ type: 'footnoteReference', ...labelOf(node) }),
  [definitionTag]: (state, node: Element) => ({
    type: 'footnoteDefinition',
    ...labelOf(node),
    children: state.toFlow(state.all(node)),
  }),
}

function labelOf(node: Element): { identifier: string; label: string } {
  const label = idOf(node).replace(/^footnote-/, '')
  return { identifier: label, label }
}

function idOf(node: Element): string {
  return String(node.properties.id ?? '')
}
