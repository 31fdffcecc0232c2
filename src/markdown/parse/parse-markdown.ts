import { createRequire } from 'node:module'
import type { Root } from 'mdast'
import { remarkWikiLink } from './wiki-link.ts'

const require = createRequire(import.meta.url)
let parser: { parse(content: string): Root } | undefined

/**
 * CommonMark, GFM and wiki links as an mdast tree. Not safe on hostile text: it can take minutes, or throw a RangeError when
 * the nesting exhausts the stack. Text that is not one's own goes through a ParserPool.
 */
export function parseMarkdown(content: string): Root {
  parser ??= loadParser()
  return parser.parse(content)
}

/** With the first text, and not before: remark has 150 modules, and most commands and threads parse nothing. */
function loadParser(): { parse(content: string): Root } {
  const { unified }: typeof import('unified') = require('unified')
  const { default: remarkParse }: typeof import('remark-parse') = require('remark-parse')
  const { default: remarkGfm }: typeof import('remark-gfm') = require('remark-gfm')
  return unified().use(remarkParse).use(remarkGfm).use(remarkWikiLink).freeze()
}
