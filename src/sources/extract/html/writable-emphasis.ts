import type { ElementContent } from 'hast'
import { hastText } from '../../../markdown/nodes.ts'

const emphasis = new Set(['strong', 'b', 'em', 'i', 'del', 's', 'strike', 'mark', 'u'])
/** Elements that begin and end with a sign in Markdown. */
const signed = new Set([...emphasis, 'a', 'code', 'kbd', 'samp', 'tt', 'var'])
const wordEnd = /[\p{L}\p{N}]$/u
const wordStart = /^[\p{L}\p{N}]/u

/** Elements whose sign in Markdown is `_`, which cannot stand within a word (CommonMark 6.2, rules 2 and 4). */
const underscored = new Set(['em', 'i', 'mark', 'u'])

/**
 * Returns siblings in which emphasis can be written in Markdown without character references: blanks at its ends stand outside of it,
 * and so do signs that a word without a blank follows or precedes (CommonMark 6.2, flanking delimiter runs). Emphasis that cannot be
 * written so becomes its content.
 */
export function writableEmphasis(siblings: readonly ElementContent[]): ElementContent[] {
  const result: ElementContent[] = []
  const queue = siblings.toReversed()
  for (let sibling = queue.pop(); sibling !== undefined; sibling = queue.pop()) {
    if (sibling.type !== 'element' || !emphasis.has(sibling.tagName)) {
      result.push(sibling)
      continue
    }
    const before = wordEnd.test(textOf(result.at(-1)))
    const after = wordStart.test(textOf(queue.at(-1)))
    const children = [...sibling.children]
    const opening = takeEnds(children, 0, before ? /^[^\p{L}\p{N}]+/u : /^\s+/)
    const closing = takeEnds(children, -1, after ? /(?<![^\p{L}\p{N}])[^\p{L}\p{N}]+$/u : /(?<!\s)\s+$/)
    const isTouched = (touches: boolean, taken: readonly ElementContent[], edge: ElementContent | undefined) =>
      touches &&
      taken.length === 0 &&
      (edge?.type === 'element' ? signed.has(edge.tagName) : underscored.has(sibling.tagName))
    const isWritable = !isTouched(before, opening, children[0]) && !isTouched(after, closing, children.at(-1))
    result.push(...opening)
    queue.push(...closing)
    if (!isWritable) queue.push(...children.reverse())
    else if (children.length > 0) result.push({ ...sibling, children })
  }
  return result
}

/** Removes line breaks and signs from one end, and returns them from that end on. */
function takeEnds(children: ElementContent[], end: 0 | -1, signs: RegExp): ElementContent[] {
  const taken: ElementContent[] = []
  for (let child = children.at(end); child !== undefined; child = children.at(end)) {
    const isBreak = child.type === 'element' && child.tagName === 'br'
    if (!isBreak && child.type !== 'text') break
    children.splice(end, 1)
    if (child.type !== 'text') {
      taken.push(child)
      continue
    }
    const [sign = ''] = signs.exec(child.value) ?? []
    const rest = end === 0 ? child.value.slice(sign.length) : child.value.slice(0, child.value.length - sign.length)
    if (sign !== '') taken.push({ type: 'text', value: sign })
    if (rest === '') continue
    children.splice(end === 0 ? 0 : children.length, 0, { type: 'text', value: rest })
    break
  }
  return taken
}

function textOf(node: ElementContent | undefined): string {
  return node === undefined ? '' : hastText(node)
}
