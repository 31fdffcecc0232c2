import type { Definition, Nodes, Root } from 'mdast'
import type { WikiLink } from '../../rules/neurons/neuron.ts'
import { append } from '../append.ts'
import { nodesOf } from '../nodes.ts'
import { parseParts } from '../parse/parse-parts.ts'
import { type HtmlLink, htmlLinks } from './html-links.ts'
import { type LinkSegment, scanLinks } from './link-scan.ts'
import { parseDestination } from './markdown-link.ts'
import { patternLinks } from './pattern-links.ts'

/** Maximum number of links of a page: more than any index page written by people has, and few enough to store and resolve. */
export const maxLinks = 20_000

/** Links of a page. One more than 20,000 indicates that links were left out. */
export type FoundLinks = { links: WikiLink[]; isPartial: boolean }

/**
 * Returns at most 20,001 wiki links, and Markdown and HTML links to files of the knowledge base, in order. Parses only where necessary. In
 * text that is too complex to parse, links are found by pattern, and `isPartial` is set. Unsafe for hostile text: see `parseMarkdown`.
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

/** Returns at most 20,001 links if they are certain without a parser, in time linear in the text. */
export function certainLinks(content: string): WikiLink[] | undefined {
  const links: WikiLink[] = []
  for (const segment of scanLinks(content) ?? [undefined]) {
    if (segment === undefined || 'source' in segment) return undefined
    append(links, segment.links)
  }
  return links.slice(0, maxLinks + 1)
}

/** Returns at most 20,001 links of a tree. `line`: 1-based line of the page at which the tree begins. */
export function treeLinks(tree: Root, line = 1): WikiLink[] {
  const links: WikiLink[] = []
  for (const found of linkNodes(tree)) {
    links.push({ ...found.link, line: line - 1 + lineOf(found) })
    if (links.length > maxLinks) break
  }
  return links
}

/** Node that links, with the definition of a reference link, or the tag of an HTML link. */
export type LinkNode = {
  node: Nodes
  definition?: Definition
  html?: HtmlLink
  link: Omit<WikiLink, 'line'>
  isInTable: boolean
}

/** Returns the 1-based line of a link in the parsed text. */
export function lineOf({ node, html }: LinkNode): number {
  const before = html === undefined || node.type !== 'html' ? '' : node.value.slice(0, html.tag.start)
  return (node.position?.start.line ?? 1) + before.split(/\r\n|[\r\n]/).length - 1
}

/** Yields the nodes of a tree that link to pages or files of the knowledge base, in order. */
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

/** Returns the definitions by label; the first of a label wins. */
function definitionsOf(tree: Root): Map<string, Definition> {
  const definitions = new Map<string, Definition>()
  for (const node of nodesOf(tree)) {
    if (node.type === 'definition' && !definitions.has(node.identifier)) definitions.set(node.identifier, node)
  }
  return definitions
}
