import { htmlTagNames } from 'html-tag-names'
import type { Nodes } from 'mdast'

/** Tags that do not separate words: `H<sub>2</sub>O`. */
const inlineTag =
  /<\/?(?:a|abbr|b|bdi|bdo|cite|code|del|dfn|em|font|i|ins|kbd|mark|q|s|samp|small|span|strong|sub|sup|tt|u|var)(?:[\s/][^<>]*)?>/gi
const unseen = /<!--.*?(?:-->|$)|<(script|style|template)[\s>].*?(?:<\/\1\s*>|$)/gis
const otherTag = /<[!/?a-z][^<>]*>/gi
/** Matches tags such as `<T>` and `<remote>`: without attributes, and without the hyphen of a custom element. */
const bareTag = /^<\/?([a-z][a-z0-9]*)>$/i
const elements: ReadonlySet<string> = new Set(htmlTagNames)

const lineEnd = /\r\n|[\r\n]/g

/** Converts line ends within a paragraph to blanks. */
function onePlainLine(text: string): string {
  return text.replace(lineEnd, ' ')
}

/** Returns the visible text of a node, without markup. Newlines separate blocks and hard line breaks. */
export function plainText(node: Nodes): string {
  switch (node.type) {
    case 'text':
    case 'inlineCode':
      return onePlainLine(node.value)
    case 'code':
      return node.value.replace(lineEnd, '\n')
    case 'wikiLink':
      return node.embed ? node.link.target : node.value
    case 'image':
    case 'imageReference':
      return node.alt ?? ''
    case 'html':
      return node.value
        .replace(unseen, '')
        .replace(/<br[\s/]*>/gi, '\n')
        .replace(inlineTag, '')
        .replace(otherTag, (tag) => (isPlaceholder(tag) ? tag : ' '))
    case 'break':
      return '\n'
    case 'paragraph':
    case 'heading':
    case 'tableCell':
      return joined(node.children, '').trim()
    case 'tableRow':
      return joined(node.children, ' ').trim()
    case 'root':
    case 'blockquote':
    case 'list':
    case 'listItem':
    case 'footnoteDefinition':
    case 'table':
      return node.children
        .map((child) => plainText(child).trim())
        .filter((text) => text !== '')
        .join('\n')
    default:
      return 'children' in node ? joined(node.children, '') : ''
  }
}

/** True if a tag is not an HTML element and so was meant to be read: `std::unique_ptr<T>`, `git push <remote>`. */
function isPlaceholder(tag: string): boolean {
  const name = bareTag.exec(tag)?.[1]
  return name !== undefined && !elements.has(name.toLowerCase())
}

function joined(nodes: readonly Nodes[], separator: string): string {
  return nodes.map(plainText).join(separator)
}
