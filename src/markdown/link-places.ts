import type { Nodes } from 'mdast'
import type { WikiLink } from '../knowledge/neuron.ts'
import { isReadableAlone, linkBlocks } from './link-scan.ts'
import { maxLinks } from './links.ts'
import { parseMarkdown } from './parse-markdown.ts'
import { rangeOf } from './split-blocks.ts'

/** A wiki link, and where it stands, in offsets of the content. */
export type LinkPlace = {
  link: WikiLink
  /** Of the target. */
  start: number
  end: number
  /** Of the closing brackets. */
  close: number
  /** What parts an alias from the target where the link stands: in a table, a pipe must be escaped. */
  separator: '|' | '\\|'
}

type Open = { node: Nodes; separator: LinkPlace['separator'] }
/** A part of a content, and where it begins; `line` is the 1-based line of its first. */
type Part = { source: string; start: number; line: number }

/**
 * Where the wiki links of a content stand, in their order, 2,000 at most. Parses only what may hold any. Not safe on hostile
 * text, see `parseMarkdown`.
 */
export function linkPlaces(content: string): LinkPlace[] {
  return partsWithLinks(content).flatMap(placesIn).slice(0, maxLinks)
}

function partsWithLinks(content: string): Part[] {
  const blocks = linkBlocks(content)
  if (!blocks?.every(({ lines }) => isReadableAlone(lines))) return [{ source: content, start: 0, line: 1 }]
  return blocks.map(({ lines, firstLine: line }) => {
    const { start, end } = rangeOf(lines)
    return { source: content.slice(start, end), start, line }
  })
}

function placesIn({ source, start: partStart, line }: Part): LinkPlace[] {
  // The parser counts from behind a byte order mark.
  const shift = source.startsWith('\uFEFF') ? 1 : 0
  const places: LinkPlace[] = []
  const open: Open[] = [{ node: parseMarkdown(source), separator: '|' }]
  for (let next = open.pop(); next && places.length < maxLinks; next = open.pop()) {
    const { node } = next
    const separator = node.type === 'tableCell' ? '\\|' : next.separator
    if (node.type === 'wikiLink') {
      const { start: from, end: to } = node.position ?? {}
      const link = { ...node.link, embed: node.embed, line: line - 1 + (from?.line ?? 1) }
      const inside = shift + (from?.offset ?? 0) + (node.embed ? '![['.length : '[['.length)
      const start = partStart + targetStart(source, inside, link)
      const close = partStart + shift + (to?.offset ?? 0) - ']]'.length
      places.push({ link, start, end: start + link.target.length, close, separator })
    } else if ('children' in node) {
      open.push(...node.children.toReversed().map((child) => ({ node: child, separator })))
    }
  }
  return places
}

/** Nothing but the type, the knowledge base and blanks stands before a target. */
function targetStart(content: string, start: number, { target, type, kb }: WikiLink): number {
  const typed = type === undefined ? start : content.indexOf(':', start) + 1
  const local = kb === undefined ? typed : content.indexOf('/', typed) + 1
  return content.indexOf(target, local)
}
