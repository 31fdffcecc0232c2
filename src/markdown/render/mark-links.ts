import type { Html, Nodes, Root } from 'mdast'
import type { WikiLink } from '../../rules/neurons/neuron.ts'
import { linkNodes } from '../links/links.ts'
import { nodesOf } from '../nodes.ts'

/** Destination of a link for the current reader. A gap leads nowhere: `why` is the reason, and writers may create the page. */
export type ResolvedLink =
  | { to: 'page'; href: string; title: string }
  | { to: 'file'; href: string; isImage: boolean }
  | { to: 'gap'; why: string; createHref?: string }

/** Meaning of a page's links, by {@link linkTableKey}. */
export type LinkTable = ReadonlyMap<string, ResolvedLink>

/** Returns the key of a link. On one page, links with the same key have the same meaning. */
export function linkTableKey({ form, kb, target }: Pick<WikiLink, 'form' | 'kb' | 'target'>): string {
  return JSON.stringify([form ?? 'wiki', kb ?? null, target])
}

/** Link of a page with its resolved meaning. */
export type MarkedLink = { link: Omit<WikiLink, 'line'>; meaning: ResolvedLink }

const unknown: ResolvedLink = { to: 'gap', why: 'Of a page, only the first 20,000 links lead somewhere' }

/**
 * Marks the links of a tree so that they become `<a data-link="0">` in HTML, where the number is the index in the result. Only that number
 * passes the sanitizer; the link itself is filled in afterwards.
 */
export function markLinks(tree: Root, table: LinkTable): MarkedLink[] {
  const marked: MarkedLink[] = []
  const edits = new Map<Html, { at: number; end: number; text: string }[]>()
  for (const { node, link, html } of linkNodes(tree)) {
    marked.push({ link, meaning: table.get(linkTableKey(link)) ?? unknown })
    const number = String(marked.length - 1)
    if (html !== undefined && node.type === 'html') {
      const text = link.embed
        ? `<img data-link="${number}" alt="${escaped(html.label)}">`
        : `<a data-link="${number}" href="">`
      edits.set(node, [...(edits.get(node) ?? []), { at: html.tag.start, end: html.tag.end, text }])
      continue
    }
    const label = labelOf(node, link)
    node.data = {
      hName: 'a',
      hProperties: { dataLink: number, href: '' },
      ...(label === undefined ? {} : { hChildren: [{ type: 'text', value: label }] }),
    }
  }
  for (const [node, tags] of edits) {
    for (const { at, end, text } of tags.toReversed())
      node.value = node.value.slice(0, at) + text + node.value.slice(end)
  }
  markOwnPlaces(tree)
  return marked
}

/** Converts `[[#Heading]]` to `<a href="#Heading">`. */
function markOwnPlaces(tree: Root): void {
  for (const node of nodesOf(tree)) {
    const place = node.type === 'text' ? node.data?.ownPlace : undefined
    if (place === undefined) continue
    node.data = { hName: 'a', hProperties: { href: `#${encodeURIComponent(place)}` } }
  }
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
}

/** Returns the label for a wiki link or an image. A Markdown link already has one. */
function labelOf(node: Nodes, { target }: Omit<WikiLink, 'line'>): string | undefined {
  if (node.type === 'wikiLink') return node.value
  return node.type === 'image' || node.type === 'imageReference' ? node.alt || target : undefined
}
