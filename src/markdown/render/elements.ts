import type { Element, ElementContent, Nodes, Properties, Root } from 'hast'

/** Element of a tree. `isInLink`: true inside a link. */
export type PlacedElement = { element: Element; isInLink: boolean }

/** Returns the elements of a tree in order. The list is not affected by later changes of the tree. */
export function elementsOf(root: Root): PlacedElement[] {
  const found: PlacedElement[] = []
  const open: { node: Nodes; isInLink: boolean }[] = [{ node: root, isInLink: false }]
  for (let next = open.pop(); next; next = open.pop()) {
    const { node, isInLink } = next
    if (node.type === 'element') found.push({ element: node, isInLink })
    if (!('children' in node)) continue
    const isLink = isInLink || (node.type === 'element' && node.tagName === 'a')
    open.push(...node.children.toReversed().map((child) => ({ node: child, isInLink: isLink })))
  }
  return found
}

export function element(tagName: string, properties: Properties, children: ElementContent[]): Element {
  return { type: 'element', tagName, properties, children }
}

export function text(value: string): ElementContent {
  return { type: 'text', value }
}

/** Replaces an element in place by another one. */
export function become(target: Element, { tagName, properties, children }: Element): void {
  Object.assign(target, { tagName, properties, children })
}
