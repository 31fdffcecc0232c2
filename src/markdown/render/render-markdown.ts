import type { Element, Root as Html } from 'hast'
import type { Root } from 'mdast'
import rehypeRaw from 'rehype-raw'
import rehypeSanitize from 'rehype-sanitize'
import rehypeStringify from 'rehype-stringify'
import remarkRehype from 'remark-rehype'
import { unified } from 'unified'
import { hideMarks } from '../obsidian-marks.ts'
import { parseParts } from '../parse/parse-parts.ts'
import { markCallouts, placeCallouts } from './callouts.ts'
import { frameBlocks } from './frame-blocks.ts'
import { highlightCode } from './highlight-code.ts'
import { type MarkedLink, markLinks } from './mark-links.ts'
import { placeIds } from './place-ids.ts'
import { placeLinks } from './place-links.ts'
import type { LinkTable } from './resolved-link.ts'
import { contentIdPrefix, safeSchema } from './safe-html.ts'
import { titleHeading } from './title-heading.ts'

export type RenderRequest = {
  /** Markdown without front matter. */
  content: string
  links: LinkTable
  /** Prefix of every id, for a document with several pages; `null`: no ids. Absent: links from other pages find the headings. */
  idPrefix?: string | null
  /** Title shown above the page. An opening heading of level 1 that repeats it is left out. */
  title?: string | undefined
}

/** Rendered blocks. `isPartial`: a part was too complex to parse, and is shown as written. */
export type RenderedParts = { blocks: string[]; isPartial: boolean }

const stringifier = unified().use(rehypeStringify).freeze()
const footnotes = { footnoteLabelTagName: 'h1', footnoteLabelProperties: { className: ['unseen'] }, clobberPrefix: '' }

/**
 * Renders the blocks of a page as safe HTML. Not safe on hostile text, which can take long or exhaust the stack: untrusted text must go
 * through a RenderPool.
 */
export function renderBlocks({ content, links, idPrefix = contentIdPrefix, title }: RenderRequest): RenderedParts {
  const { tree, isPartial } = parse(content)
  const marked = markLinks(tree, links)
  markCallouts(tree)
  hideMarks(tree)
  const html = safeHtml(tree, idPrefix ?? contentIdPrefix)
  const heading = title === undefined ? undefined : titleHeading(html, title)
  complete(html, marked, { idPrefix: idPrefix ?? undefined, heading })
  const blocks = html.children.filter((node) => node.type !== 'text' || node.value.trim() !== '')
  const isEmpty = blocks.every((node) => node === heading)
  const shown = isEmpty ? [] : blocks.map((node) => stringifier.stringify({ type: 'root', children: [node] }))
  return { blocks: shown, isPartial }
}

/** Parses a page part by part. A part that is too complex becomes a code block, which shows it as written. */
function parse(content: string): { tree: Root; isPartial: boolean } {
  const parts = parseParts(content)
  const children = parts.flatMap(
    ({ tree, source }): Root['children'] => tree?.children ?? [{ type: 'code', value: source }],
  )
  return { tree: { type: 'root', children }, isPartial: parts.some(({ tree }) => tree === undefined) }
}

function safeHtml(tree: Root, idPrefix: string): Html {
  const processor = unified()
    .use(remarkRehype, { allowDangerousHtml: true, ...footnotes })
    .use(rehypeRaw)
    .use(rehypeSanitize, safeSchema(idPrefix))
  return processor.runSync(tree)
}

function complete(
  html: Html,
  marked: readonly MarkedLink[],
  { idPrefix, heading }: { idPrefix: string | undefined; heading: Element | undefined },
): void {
  placeLinks(html, marked)
  placeIds(html, idPrefix, heading)
  frameBlocks(html)
  placeCallouts(html)
  highlightCode(html)
}
