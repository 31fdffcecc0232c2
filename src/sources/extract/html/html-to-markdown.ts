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
 * GitHub Flavored Markdown of a page or of a piece of one. Scripts, menus, forms and what is hidden go; images become their
 * alternative text; links that are not absolute, of http, https or mailto, become their text. Links to `#footnote-…` become
 * footnotes where there is an item of that id.
 * @throws {ExtractionError} `too-large`
 */
export function htmlToMarkdown(html: string): string {
  return documentMarkdown(parseHtml(html))
}

/** Converts a page that is all text of a document. Changes the tree. @throws {ExtractionError} `too-large` */
export function documentMarkdown(tree: Root): string {
  return hastToMarkdown(cleanHast(revealContents(tree, { isContent: true })))
}

/** @param tree as `cleanHast` gives it. */
export function hastToMarkdown(tree: Root): string {
  return toMarkdown.stringify(toMarkdown.runSync(tree)).trim()
}
