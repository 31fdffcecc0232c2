import type { Element, Nodes, Root } from 'hast'
import rehypeParse from 'rehype-parse'
import { unified } from 'unified'
import { hastText, nodesOf } from '../../../markdown/nodes.ts'
import { ExtractionError } from '../../extracted.ts'
import { raisedText } from '../raised-text.ts'

const parser = unified().use(rehypeParse).freeze()

/**
 * Parses HTML. Superscripts and subscripts become plain text, such as `10⁶`.
 * @throws {ExtractionError} `too-large` for elements nested more deeply than on any page that people write
 */
export function parseHtml(html: string): Root {
  try {
    return withRaisedText(parser.parse(html))
  } catch (cause) {
    if (cause instanceof RangeError) {
      throw new ExtractionError('too-large', 'The page is nested too deeply to be read.', { cause })
    }
    throw cause
  }
}

function withRaisedText(tree: Root): Root {
  let base = ''
  for (const node of nodesOf(tree)) {
    if (node.type === 'text') base = node.value || base
    if (node.type !== 'element' || (node.tagName !== 'sup' && node.tagName !== 'sub')) continue
    const text = raisedText(hastText(node), node.tagName, base)
    const [first, ...others] = [...nodesOf(node)].filter((each) => each.type === 'text')
    if (first) first.value = text
    for (const other of others) other.value = ''
    node.tagName = 'span'
  }
  return tree
}

export function findElement(node: Nodes, tagName: string): Element | undefined {
  for (const each of nodesOf(node)) if (isElement(each, tagName)) return each
  return undefined
}

export function isElement(node: Nodes, tagName: string): node is Element {
  return node.type === 'element' && node.tagName === tagName
}

/** Collapses white space to single spaces, with none at the ends. */
export function collapse(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
