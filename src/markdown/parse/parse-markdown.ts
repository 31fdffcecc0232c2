import type { Root } from 'mdast'
import remarkGfm from 'remark-gfm'
import remarkParse from 'remark-parse'
import { unified } from 'unified'
import { remarkWikiLink } from '../links/wiki-link.ts'

const processor = unified().use(remarkParse).use(remarkGfm).use(remarkWikiLink).freeze()

/**
 * CommonMark, GFM and wiki links as an mdast tree. Not safe on hostile text: it can take minutes, or throw a RangeError when
 * the nesting exhausts the stack. Text that is not one's own goes through a ParserPool.
 */
export function parseMarkdown(content: string): Root {
  return processor.parse(content)
}
