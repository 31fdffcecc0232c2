import type { Definition, Html, Nodes, Root } from 'mdast'
import type { WikiLink } from '../../rules/neurons/neuron.ts'
import { append } from '../append.ts'
import { nodesOf } from '../nodes.ts'
import { type Part, parseParts } from '../parse/parse-parts.ts'
import { rangeOf } from '../parse/split-blocks.ts'
import { type HtmlLink, htmlLinks } from './html-links.ts'
import { isReadableAlone, type LinkSegment, linkBlocks, scanLinks } from './link-scan.ts'
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
type LinkNode = {
  node: Nodes
  definition?: Definition
  html?: HtmlLink
  link: Omit<WikiLink, 'line'>
  isInTable: boolean
}

/** Returns the 1-based line of a link in the parsed text. */
function lineOf({ node, html }: LinkNode): number {
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

/** Link with its position, in offsets of the content. */
export type LinkPlace = {
  link: WikiLink
  /** Offset of the target; for a Markdown link, of the path as written. */
  start: number
  end: number
  /** Position for an alias of a wiki link, and its separator: in a table, the pipe must be escaped. */
  alias?: { at: number; separator: '|' | '\\|' }
}

/**
 * Returns the positions of at most 20,000 links in order, or `undefined` if a part is too complex to parse, or a destination contains
 * escapes. Parses only text that may contain links. Unsafe for hostile text: see `parseMarkdown`.
 */
export function linkPlaces(content: string): LinkPlace[] | undefined {
  const places: LinkPlace[] = []
  for (const part of partsWithLinks(content)) {
    const found = placesIn(part)
    if (found === undefined) return undefined
    append(places, found)
  }
  return places.slice(0, maxLinks)
}

function partsWithLinks(content: string): Part[] {
  const blocks = linkBlocks(content)
  if (!blocks?.every(({ lines }) => isReadableAlone(lines))) return [{ source: content, start: 0, line: 1 }]
  return blocks.map(({ lines, firstLine: line }) => {
    const { start, end } = rangeOf(lines)
    return { source: content.slice(start, end), start, line }
  })
}

function placesIn(part: Part): LinkPlace[] | undefined {
  const places: LinkPlace[] = []
  for (const { tree, source, start, line } of parseParts(part.source)) {
    if (tree === undefined) {
      if (patternLinks(source, line).length > 0) return undefined
      continue
    }
    const context = { source, start: part.start + start, line: part.line + line - 1 }
    for (const node of linkNodes(tree)) {
      const place = placeOf(node, context)
      if (place === undefined) return undefined
      places.push(place)
      if (places.length > maxLinks) return places
    }
  }
  return places
}

function placeOf(found: LinkNode, part: Part): LinkPlace | undefined {
  if (found.link.form !== 'markdown') return wikiPlace(found, part)
  return found.html === undefined ? markdownPlace(found, part) : htmlPlace(found, part)
}

/** Returns `undefined` if the URL spans lines or contains character references. */
function htmlPlace(found: LinkNode, part: Part): LinkPlace | undefined {
  const { node, html, link } = found
  if (node.type !== 'html' || !html?.address.isPlain) return undefined
  const path = html.address.written.split(/[?#]/, 1).join('')
  const from = sourceOffset(node, html.address.start, part)
  if (from === undefined || !part.source.startsWith(path, from)) return undefined
  const start = part.start + from
  return { link: { ...link, line: part.line - 1 + lineOf(found) }, start, end: start + path.length }
}

/**
 * Returns the offset in the source of an offset in a node's text. Lines of the source may have markers of quotes or list items that the
 * text lacks.
 */
function sourceOffset(node: Html, at: number, part: Part): number | undefined {
  const [from, to] = offsetsOf(node, part)
  const before = node.value.slice(0, at).split('\n')
  const line = part.source.slice(from, to).split('\n').slice(0, before.length).join('\n')
  const own = node.value.split('\n')[before.length - 1] ?? ''
  return line.endsWith(own) ? from + line.length - own.length + (before.at(-1)?.length ?? 0) : undefined
}

function wikiPlace(found: LinkNode, part: Part): LinkPlace {
  const { node, link, isInTable } = found
  const [from, to] = offsetsOf(node, part)
  const written = { ...link, line: part.line - 1 + lineOf(found) }
  const start = targetStart(part.source, from + (link.embed ? '![['.length : '[['.length), written)
  const alias = { at: part.start + to - ']]'.length, separator: isInTable ? ('\\|' as const) : ('|' as const) }
  return { link: written, start: part.start + start, end: part.start + start + link.target.length, alias }
}

function markdownPlace(found: LinkNode, part: Part): LinkPlace | undefined {
  const { node, definition, link } = found
  const holder = definition ?? node
  if (!('url' in holder)) return undefined
  const [from, to] = offsetsOf(holder, part)
  const place = findDestination(part.source.slice(from, to), holder.url, definition ? ']:' : '](')
  if (place === undefined) return undefined
  const [start, end] = [place.start, place.end].map((at) => part.start + from + at)
  return { link: { ...link, line: part.line - 1 + lineOf(found) }, start: start ?? 0, end: end ?? 0 }
}

/** Finds the path of a destination in the source of a link or definition, after the last label before it. */
function findDestination(source: string, url: string, opening: string): { start: number; end: number } | undefined {
  for (let at = source.lastIndexOf(opening); at >= 0; at = source.lastIndexOf(opening, at - 1)) {
    const [whole, angled, bare] = /^\s*(?:<([^<>\n]*)>|([^\s<]\S*))/.exec(source.slice(at + opening.length)) ?? []
    const isInline = opening === ']('
    const written = angled ?? (isInline ? bare?.replace(/\)$/, '') : bare)
    if (whole === undefined || written === undefined || written !== url) {
      if (at === 0) return undefined
      continue
    }
    const start = at + opening.length + whole.indexOf(angled === undefined ? (bare ?? '') : angled)
    return { start, end: start + written.split(/[?#]/, 1).join('').length }
  }
  return undefined
}

/** Returns a node's offsets in the part. The parser does not count a byte order mark. */
function offsetsOf({ position }: Nodes, { source }: Part): [number, number] {
  const shift = source.startsWith('\uFEFF') ? 1 : 0
  return [shift + (position?.start.offset ?? 0), shift + (position?.end.offset ?? 0)]
}

/** Returns the offset of a target, which only the type, the knowledge base and blanks precede. */
function targetStart(content: string, start: number, { target, type, kb }: WikiLink): number {
  const typed = type === undefined ? start : content.indexOf(':', start) + 1
  const local = kb === undefined ? typed : content.indexOf('/', typed) + 1
  return content.indexOf(target, local)
}
