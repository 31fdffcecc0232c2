import type { Element, Root } from 'hast'
import { elementsOf, textOf } from './elements.ts'

/** What would be lost with a heading: a link, a picture, or a place that links name. */
const kept = ['a', 'img', 'input']

/** The heading of level 1 that opens a page, if it says only what the page's title does. */
export function titleHeading(root: Root, title: string): Element | undefined {
  const first = root.children.find((node) => node.type !== 'text' || node.value.trim() !== '')
  if (first?.type !== 'element' || first.tagName !== 'h1') return undefined
  const [, ...inner] = elementsOf({ type: 'root', children: [first] })
  const holdsMore = inner.some(({ element }) => kept.includes(element.tagName) || element.properties.id !== undefined)
  return !holdsMore && spaced(textOf(first)) === spaced(title) ? first : undefined
}

function spaced(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
