import { createRequire } from 'node:module'
import type { Root } from 'mdast'
import type { ConstructRecord } from 'micromark-util-types'
import type { Processor } from 'unified'
import { remarkMath } from './math.ts'
import { remarkWikiLink } from './wiki-link.ts'

type Parser = { parse(content: string): Root }

const require = createRequire(import.meta.url)
/** Matches characters of autolinks, and of character references or escapes that may stand for them. */
export const mayHoldAddress = /[@&\\]|\/\/|www\./i
/** Matches a table's delimiter row. */
const mayHoldTable = /^[ \t>]*[|:-][|:\- \t]*$/m
const parsers = new Map<string, Parser>()

/**
 * Parses CommonMark, GFM, wiki links and math to an mdast tree. Not safe on hostile text: it can take minutes, or throw a RangeError if the
 * nesting exhausts the stack. Untrusted text must go through a ParserPool. Autolinks and tables are disabled where the text has none,
 * because trying them at each word and paragraph takes 60 % of the time.
 */
export function parseMarkdown(content: string): Root {
  const unused = [
    ...(mayHoldAddress.test(content) ? [] : ['wwwAutolink', 'protocolAutolink', 'emailAutolink']),
    ...(mayHoldTable.test(content) ? [] : ['table']),
  ]
  const parser = parsers.get(unused.join()) ?? loadParser(unused)
  parsers.set(unused.join(), parser)
  return parser.parse(content)
}

/** Loads remark with the first text: it has 150 modules, and most commands and threads parse nothing. */
function loadParser(unused: readonly string[]): Parser {
  const { unified }: typeof import('unified') = require('unified')
  const { default: remarkParse }: typeof import('remark-parse') = require('remark-parse')
  const { default: remarkGfm }: typeof import('remark-gfm') = require('remark-gfm')
  return unified().use(remarkParse).use(remarkGfm).use(without, unused).use(remarkWikiLink).use(remarkMath).freeze()
}

/** Removes micromark constructs by name from a unified processor. */
function without(this: Processor, unused: readonly string[]): undefined {
  const data = this.data()
  const usedOf = (record: ConstructRecord = {}): ConstructRecord => {
    const used = Object.entries(record).map(([code, constructs]) => {
      return [code, [constructs ?? []].flat().filter(({ name = '' }) => !unused.includes(name))] as const
    })
    return Object.fromEntries(used.filter(([, constructs]) => constructs.length > 0))
  }
  data.micromarkExtensions = (data.micromarkExtensions ?? []).map((extension) => {
    return { ...extension, text: usedOf(extension.text), flow: usedOf(extension.flow) }
  })
  if (!unused.includes('emailAutolink')) return
  // mdast looks for autolinks a second time, in the tree.
  data.fromMarkdownExtensions = (data.fromMarkdownExtensions ?? []).map((list) =>
    [list].flat().filter(({ transforms }) => transforms === undefined),
  )
}
