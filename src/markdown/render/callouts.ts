import type { ElementContent, Root as Html } from 'hast'
import type { Blockquote, Root } from 'mdast'
import { hastText, nodesOf } from '../nodes.ts'
import { become, element, elementsOf, text } from './elements.ts'

const calloutType = /^\[!([^\]\n]{1,40})\]([+-]?)/
const styled = 'note tip important warning caution info question success failure example quote'.split(' ')

/** Stores the type and state of a callout (`> [!note]- Title`) in the tree before `hideMarks` removes it from the text. */
export function markCallouts(tree: Root): void {
  for (const node of nodesOf(tree)) if (node.type === 'blockquote') markCallout(node)
}

function markCallout(quote: Blockquote): void {
  const [paragraph] = quote.children
  const [first] = paragraph?.type === 'paragraph' ? paragraph.children : []
  const [, type, fold] = (first?.type === 'text' && calloutType.exec(first.value)) || []
  if (type === undefined) return
  quote.data = { hProperties: { dataCallout: type, ...(fold ? { dataFold: fold } : {}) } }
}

/** Renders callouts as boxes with a bold title. Folded ones are `details` elements, which open without a script. */
export function placeCallouts(root: Html): void {
  for (const { element: quote } of elementsOf(root)) {
    const { dataCallout, dataFold, dir } = quote.properties
    if (quote.tagName !== 'blockquote' || typeof dataCallout !== 'string') continue
    const type = dataCallout.trim().toLowerCase()
    const className = ['callout', `callout-${styled.includes(type) ? type : 'note'}`]
    const { title, body } = splitTitle(quote.children)
    const label = title.length > 0 ? title : [text(type.charAt(0).toUpperCase() + type.slice(1))]
    const head = (tagName: string) => element(tagName, { className: ['callout-title'], dir: 'auto' }, label)
    if (dataFold === undefined) become(quote, element('div', { className, dir }, [head('p'), ...body]))
    else become(quote, element('details', { className, dir, open: dataFold === '+' }, [head('summary'), ...body]))
  }
}

/** Splits off the title, which is the first line of the first paragraph. */
function splitTitle(children: readonly ElementContent[]): { title: ElementContent[]; body: ElementContent[] } {
  const at = children.findIndex(({ type }) => type === 'element')
  const first = children[at]
  if (first?.type !== 'element' || first.tagName !== 'p') return { title: [], body: [...children] }
  const lineEnd = first.children.findIndex((child) => child.type === 'element' && child.tagName === 'br')
  const title = lineEnd < 0 ? first.children : first.children.slice(0, lineEnd)
  const rest = lineEnd < 0 ? [] : [element('p', {}, first.children.slice(lineEnd + 1))]
  const hasTitle = title.some((node) => hastText(node).trim() !== '')
  return { title: hasTitle ? title : [], body: [...rest, ...children.slice(at + 1)] }
}
