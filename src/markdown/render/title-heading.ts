import type { Element, Root } from 'hast'
import { elementsOf, textOf } from './elements.ts'

/** Elements of a heading that must not be lost: links, pictures, and targets of links. */
const kept = ['a', 'img', 'input']

/** Returns the heading of level 1 that opens a page, if it only repeats the page's title. */
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
