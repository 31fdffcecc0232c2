import type { Nodes, Root } from 'mdast'
import type { WikiLink } from '../../rules/neurons/neuron.ts'
import { linkNodes } from '../links/links.ts'
import { type LinkTable, linkTableKey, type ResolvedLink } from './resolved-link.ts'

/** A link of a page and what it means. */
export type MarkedLink = { link: Omit<WikiLink, 'line'>; meaning: ResolvedLink }

const unknown: ResolvedLink = { to: 'gap', why: 'Of a page, only the first 2,000 links lead somewhere' }

/**
 * Marks the links of a tree, so that they become `<a data-link="0">` in HTML; the number is the place in what is returned. Only
 * that number passes the sanitiser: what it stands for is put in place afterwards.
 */
export function markLinks(tree: Root, table: LinkTable): MarkedLink[] {
  const marked: MarkedLink[] = []
  for (const { node, link } of linkNodes(tree)) {
    const label = labelOf(node, link)
    node.data = {
      hName: 'a',
      hProperties: { dataLink: String(marked.length), href: '' },
      ...(label === undefined ? {} : { hChildren: [{ type: 'text', value: label }] }),
    }
    marked.push({ link, meaning: table.get(linkTableKey(link)) ?? unknown })
  }
  markOwnPlaces(tree)
  return marked
}

/** `[[#Heading]]` becomes `<a href="#Heading">`. */
function markOwnPlaces(tree: Root): void {
  const open: Nodes[] = [tree]
  for (let node = open.pop(); node; node = open.pop()) {
    if ('children' in node) open.push(...node.children)
    const place = node.type === 'text' ? node.data?.ownPlace : undefined
    if (place === undefined) continue
    node.data = { hName: 'a', hProperties: { href: `#${encodeURIComponent(place)}` } }
  }
}

/** A link keeps the label that it has; a wiki link and an image have none yet. */
function labelOf(node: Nodes, { target }: Omit<WikiLink, 'line'>): string | undefined {
  if (node.type === 'wikiLink') return node.value
  return node.type === 'image' || node.type === 'imageReference' ? node.alt || target : undefined
}
