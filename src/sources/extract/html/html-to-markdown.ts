import type { Root } from 'hast'
import rehypeRemark from 'rehype-remark'
import remarkGfm from 'remark-gfm'
import remarkStringify from 'remark-stringify'
import { unified } from 'unified'
import { cleanHast } from './clean-hast.ts'
import { footnoteHandlers } from './footnotes.ts'
import { parseHtml } from './hast.ts'
import { revealContents } from './reveal-contents.ts'

const toMarkdown = unified()
  .use(rehypeRemark, { handlers: footnoteHandlers })
  .use(remarkGfm, { tablePipeAlign: false })
  .use(remarkStringify, { bullet: '-', rule: '-', emphasis: '_', fences: true, listItemIndent: 'one' })
  .freeze()

/**
 * Converts a page, or a piece of one, to GitHub Flavored Markdown. Drops scripts, menus, forms and hidden elements. Images become their
 * alternative text, and links that are not absolute with http, https or mailto become their text. Links to `#footnote-…` become footnotes
 * if the list has an item with that id.
 * @throws {ExtractionError} `too-large`
 */
export function htmlToMarkdown(html: string): string {
  return documentMarkdown(parseHtml(html))
}

/** Converts HTML that consists of content alone. Changes the tree. @throws {ExtractionError} `too-large` */
export function documentMarkdown(tree: Root): string {
  return hastToMarkdown(cleanHast(revealContents(tree, { isContent: true })))
}

/** Converts a tree as returned by `cleanHast`. */
export function hastToMarkdown(tree: Root): string {
  return toMarkdown.stringify(toMarkdown.runSync(tree)).trim()
}
