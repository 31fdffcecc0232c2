import type { Nodes } from 'mdast'
import type { WikiLink } from '../knowledge/neuron.ts'
import { type LinkSegment, scanLinks } from './link-scan.ts'
import { parseMarkdown } from './parse-markdown.ts'

const maxLinks = 2000

/**
 * The wiki links of a content in their order, 2,000 at most. Parses only what must be parsed. Not safe on hostile text, see
 * `parseMarkdown`.
 */
export function extractLinks(content: string): WikiLink[] {
  const segments: LinkSegment[] = scanLinks(content) ?? [{ source: content, line: 1 }]
  return segments.flatMap((segment) => ('links' in segment ? segment.links : parseLinks(segment))).slice(0, maxLinks)
}

/** The links, if they are certain without a parser, in time linear in the text. */
export function certainLinks(content: string): WikiLink[] | undefined {
  const links: WikiLink[] = []
  for (const segment of scanLinks(content) ?? [undefined]) {
    if (segment === undefined || 'source' in segment) return undefined
    links.push(...segment.links)
  }
  return links.slice(0, maxLinks)
}

function parseLinks({ source, line }: { source: string; line: number }): WikiLink[] {
  const links: WikiLink[] = []
  const open: Nodes[] = [parseMarkdown(source)]
  for (let node = open.pop(); node; node = open.pop()) {
    if (node.type === 'wikiLink') {
      links.push({ ...node.link, embed: node.embed, line: line - 1 + (node.position?.start.line ?? 1) })
    } else if ('children' in node) open.push(...node.children.toReversed())
  }
  return links
}
