import type { Element, ElementContent, Nodes, Properties, Root } from 'hast'

/** An element, and whether it stands in a link. */
export type PlacedElement = { element: Element; isInLink: boolean }

/** The elements of a tree in their order, as they are now: what becomes of them meanwhile does not matter. */
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

/** Makes another element of an element, in its place. */
export function become(target: Element, { tagName, properties, children }: Element): void {
  Object.assign(target, { tagName, properties, children })
}

export function textOf(node: Nodes): string {
  const open: Nodes[] = [node]
  let result = ''
  for (let next = open.pop(); next; next = open.pop()) {
    if (next.type === 'text') result += next.value
    else if ('children' in next) open.push(...next.children.toReversed())
  }
  return result
}
