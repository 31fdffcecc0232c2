import type { Element, ElementContent } from 'hast'

const emphasis = new Set(['strong', 'b', 'em', 'i', 'del', 's', 'strike', 'mark', 'u'])
const wordEnd = /[\p{L}\p{N}]$/u
const wordStart = /^[\p{L}\p{N}]/u

/**
 * Siblings in which emphasis can be written in Markdown without character references: blanks at its ends stand outside of it, and
 * so do signs that a word without a blank follows or precedes (CommonMark 6.2, flanking delimiter runs).
 */
export function writableEmphasis(siblings: readonly ElementContent[]): ElementContent[] {
  const result: ElementContent[] = []
  for (const [index, sibling] of siblings.entries()) {
    if (sibling.type !== 'element' || !emphasis.has(sibling.tagName)) result.push(sibling)
    else result.push(...takeApart(sibling, textOf(result.at(-1)), textOf(siblings[index + 1])))
  }
  return result
}

function takeApart(element: Element, before: string, after: string): ElementContent[] {
  const children = [...element.children]
  const takeOff = (at: number, ends: RegExp): string => {
    const child = children.at(at)
    if (child?.type !== 'text') return ''
    const taken = ends.exec(child.value)?.[0] ?? ''
    const value = at === 0 ? child.value.slice(taken.length) : child.value.slice(0, child.value.length - taken.length)
    children.splice(at, 1, { type: 'text', value })
    return taken
  }
  const opening = takeOff(0, wordEnd.test(before) ? /^[^\p{L}\p{N}]+/u : /^\s+/)
  const closing = takeOff(-1, wordStart.test(after) ? /(?<![^\p{L}\p{N}])[^\p{L}\p{N}]+$/u : /(?<!\s)\s+$/)
  const isEmpty = children.every((child) => child.type === 'text' && child.value === '')
  return [...text(opening), ...(isEmpty ? [] : [{ ...element, children }]), ...text(closing)]
}

function textOf(node: ElementContent | undefined): string {
  return node?.type === 'text' ? node.value : ''
}

function text(value: string): ElementContent[] {
  return value === '' ? [] : [{ type: 'text', value }]
}
