import { createRequire } from 'node:module'
import type { Root } from 'mdast'
import type { Processor } from 'unified'
import { remarkWikiLink } from './wiki-link.ts'

type Parser = { parse(content: string): Root }

const require = createRequire(import.meta.url)
/** What a bare address or an e-mail address is made of, or a character reference or an escape that may stand for it. */
const mayHoldAddress = /[@&\\]|\/\/|www\./i
let parser: Parser | undefined
let parserWithoutAddresses: Parser | undefined

/**
 * CommonMark, GFM and wiki links as an mdast tree. Not safe on hostile text: it can take minutes, or throw a RangeError when
 * the nesting exhausts the stack. Text that is not one's own goes through a ParserPool.
 */
export function parseMarkdown(content: string): Root {
  if (mayHoldAddress.test(content)) {
    parser ??= loadParser()
    return parser.parse(content)
  }
  // Looking for addresses takes half of the parser's time: each word may begin one.
  parserWithoutAddresses ??= loadParser(withoutAddresses)
  return parserWithoutAddresses.parse(content)
}

/** With the first text, and not before: remark has 150 modules, and most commands and threads parse nothing. */
function loadParser(change: (this: Processor) => undefined = () => undefined): Parser {
  const { unified }: typeof import('unified') = require('unified')
  const { default: remarkParse }: typeof import('remark-parse') = require('remark-parse')
  const { default: remarkGfm }: typeof import('remark-gfm') = require('remark-gfm')
  return unified().use(remarkParse).use(remarkGfm).use(change).use(remarkWikiLink).freeze()
}

/** unified plugin: takes GFM's autolinks out. */
function withoutAddresses(this: Processor): undefined {
  const data = this.data()
  data.micromarkExtensions = (data.micromarkExtensions ?? []).map(({ text = {}, ...extension }) => ({
    ...extension,
    text: Object.fromEntries(
      Object.entries(text).flatMap(([code, constructs]) => {
        const others = [constructs ?? []].flat().filter(({ name = '' }) => !name.endsWith('Autolink'))
        return others.length === 0 ? [] : [[code, others]]
      }),
    ),
  }))
  // Only they find addresses once more, in the tree.
  data.fromMarkdownExtensions = (data.fromMarkdownExtensions ?? []).map((list) =>
    [list].flat().filter(({ transforms }) => transforms === undefined),
  )
}
