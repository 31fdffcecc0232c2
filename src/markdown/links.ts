import type { Nodes, Root } from 'mdast'
import type { WikiLink } from '../knowledge/neuron.ts'
import { type LinkSegment, scanLinks } from './link-scan.ts'
import { parseMarkdown } from './parse-markdown.ts'

/** Of one page. */
export const maxLinks = 2000

/**
 * The wiki links of a content in their order, 2,000 at most. Parses only what must be parsed. Not safe on hostile text, see
 * `parseMarkdown`.
 */
export function extractLinks(content: string): WikiLink[] {
  const segments: LinkSegment[] = scanLinks(content) ?? [{ source: content, line: 1 }]
  return segments
    .flatMap((segment) => ('links' in segment ? segment.links : treeLinks(parseMarkdown(segment.source), segment.line)))
    .slice(0, maxLinks)
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

/** The links of a tree, 2,000 at most; `line` is the 1-based line of the page that the tree begins on. */
export function treeLinks(tree: Root, line = 1): WikiLink[] {
  const links: WikiLink[] = []
  const open: Nodes[] = [tree]
  for (let node = open.pop(); node && links.length < maxLinks; node = open.pop()) {
    if (node.type === 'wikiLink') {
      links.push({ ...node.link, embed: node.embed, line: line - 1 + (node.position?.start.line ?? 1) })
    } else if ('children' in node) open.push(...node.children.toReversed())
  }
  return links
}
