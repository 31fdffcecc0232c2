import type { Definition, Nodes, Root } from 'mdast'
import type { WikiLink } from '../../rules/neurons/neuron.ts'
import { append } from '../append.ts'
import { parseParts } from '../parse/parse-parts.ts'
import { type HtmlLink, htmlLinks } from './html-links.ts'
import { type LinkSegment, scanLinks } from './link-scan.ts'
import { parseDestination } from './markdown-link.ts'
import { patternLinks } from './pattern-links.ts'

/** Of one page: beyond what any index of people's has, and few enough to be kept and resolved. */
export const maxLinks = 20_000

/** One more than the first 20,000 says that there are more. */
export type FoundLinks = { links: WikiLink[]; isPartial: boolean }

/**
 * The wiki links of a content, and its Markdown and HTML links to files of the knowledge base, in their order; 20,001 at most. Parses
 * only what must be parsed. In what is too complex to parse, links are found by their pattern: `isPartial`. Not safe on hostile text, see
 * `parseMarkdown`.
 */
export function findLinks(content: string): FoundLinks {
  const segments: LinkSegment[] = scanLinks(content) ?? [{ source: content, line: 1 }]
  const links: WikiLink[] = []
  let isPartial = false
  for (const segment of segments) {
    if ('links' in segment) append(links, segment.links)
    else {
      for (const { tree, source, line } of parseParts(segment.source)) {
        const first = segment.line + line - 1
        append(links, tree === undefined ? patternLinks(source, first) : treeLinks(tree, first))
        isPartial ||= tree === undefined
      }
    }
    if (links.length > maxLinks) break
  }
  return { links: links.slice(0, maxLinks + 1), isPartial }
}

/** The first 20,000 links of a content. */
export function extractLinks(content: string): WikiLink[] {
  return findLinks(content).links.slice(0, maxLinks)
}

/** The links, 20,001 at most, if they are certain without a parser, in time linear in the text. */
export function certainLinks(content: string): WikiLink[] | undefined {
  const links: WikiLink[] = []
  for (const segment of scanLinks(content) ?? [undefined]) {
    if (segment === undefined || 'source' in segment) return undefined
    append(links, segment.links)
  }
  return links.slice(0, maxLinks + 1)
}

/** The links of a tree, 20,001 at most; `line` is the 1-based line of the page that the tree begins on. */
export function treeLinks(tree: Root, line = 1): WikiLink[] {
  const links: WikiLink[] = []
  for (const found of linkNodes(tree)) {
    links.push({ ...found.link, line: line - 1 + lineOf(found) })
    if (links.length > maxLinks) break
  }
  return links
}

/** A node that links; for a link by reference the definition with its destination, for one of HTML its tag. */
export type LinkNode = {
  node: Nodes
  definition?: Definition
  html?: HtmlLink
  link: Omit<WikiLink, 'line'>
  isInTable: boolean
}

/** The 1-based line of the parsed text on which a link stands. */
export function lineOf({ node, html }: LinkNode): number {
  const before = html === undefined || node.type !== 'html' ? '' : node.value.slice(0, html.tag.start)
  return (node.position?.start.line ?? 1) + before.split(/\r\n|[\r\n]/).length - 1
}

/** The nodes of a tree that link to pages or files of the knowledge base, in their order. */
export function* linkNodes(tree: Root): Generator<LinkNode> {
  const definitions = definitionsOf(tree)
  const open: { node: Nodes; isInTable: boolean }[] = [{ node: tree, isInTable: false }]
  for (let next = open.pop(); next; next = open.pop()) {
    const { node, isInTable } = next
    const found = linkOf(node, definitions)
    if (found !== undefined) yield { node, isInTable, ...found }
    if (node.type === 'html') for (const html of htmlLinks(node.value)) yield { node, isInTable, html, link: html.link }
    if ('children' in node) {
      const isTable = isInTable || node.type === 'tableCell'
      append(
        open,
        node.children.toReversed().map((child) => ({ node: child, isInTable: isTable })),
      )
    }
  }
}

function linkOf(
  node: Nodes,
  definitions: ReadonlyMap<string, Definition>,
): Pick<LinkNode, 'definition' | 'link'> | undefined {
  switch (node.type) {
    case 'wikiLink':
      return { link: { ...node.link, embed: node.embed } }
    case 'link':
    case 'image':
      return markdownLink(node.url, node.type === 'image')
    case 'linkReference':
    case 'imageReference': {
      const definition = definitions.get(node.identifier)
      const found = definition && markdownLink(definition.url, node.type === 'imageReference')
      return found && definition && { ...found, definition }
    }
    default:
      return undefined
  }
}

function markdownLink(url: string, embed: boolean): Pick<LinkNode, 'link'> | undefined {
  const destination = parseDestination(url)
  return destination && { link: { ...destination, form: 'markdown', embed } }
}

/** The first definition of a label counts. */
function definitionsOf(tree: Root): Map<string, Definition> {
  const definitions = new Map<string, Definition>()
  const open: Nodes[] = [tree]
  for (let node = open.pop(); node; node = open.pop()) {
    if (node.type === 'definition' && !definitions.has(node.identifier)) definitions.set(node.identifier, node)
    else if ('children' in node && node.type !== 'paragraph') append(open, node.children.toReversed())
  }
  return definitions
}
