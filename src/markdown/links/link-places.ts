import type { Html, Nodes } from 'mdast'
import type { WikiLink } from '../../rules/neurons/neuron.ts'
import { append } from '../append.ts'
import type { Part } from '../parse/parse-parts.ts'
import { parseParts } from '../parse/parse-parts.ts'
import { rangeOf } from '../parse/split-blocks.ts'
import { isReadableAlone, linkBlocks } from './link-scan.ts'
import { type LinkNode, lineOf, linkNodes, maxLinks } from './links.ts'
import { patternLinks } from './pattern-links.ts'

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
