import type { WikiLink } from '../../rules/neurons/neuron.ts'
import { type Block, splitBlocks } from '../parse/split-blocks.ts'
import { parseWikiLinkText } from '../parse/wiki-link-text.ts'
import { mayLinkInHtml } from './html-links.ts'
import { parseDestination } from './markdown-link.ts'

/** Links that are certain, or a part of the text that requires a parser. `line`: the 1-based line of the part's start. */
export type LinkSegment = { links: WikiLink[] } | { source: string; line: number }

const mayLink = new RegExp(`\\[\\[|\\]\\(|${mayLinkInHtml.source}`, mayLinkInHtml.flags)
/** Matches the characters of a table's delimiter row, with any quote or list markers before it. */
const delimiterRow = /^[\s>*+\-\d.)|:]+$/
/** Matches constructs that may absorb a bracket: escapes, math, HTML and autolinks, other links, and definitions. */
const taking = /[\\$<@]|\[\[|\]\(|\]:|:\/\/|www\./i
/** Matches an escaped character, a wiki link, or a Markdown link without special characters. */
const link = /\\[!-/:-@[-`{-~]|(!?)(?:\[\[([^[\]]+)\]\]|\[(?!\^)([^[\]<\\@:]*)\]\(([^\s\p{Cc}()`[\]<>\\&]*)\))/gu
/** Matches a definition, except that of a footnote. The look-behind runs only after a `]:`, which keeps the time linear. */
const definition = /(?=\]:)(?<!\[\^[^\]\n]*)\]:\s*<?([^\s>]*)/
const footnoteLink = /(?=\]\()(?<=\[\^[^\]]*)/

/**
 * Finds links without a Markdown parser where the parser provably finds the same ones, and returns the parts that need a parser, or
 * `undefined` if the whole text does. Without it, an import takes 1.24 × the CPU time.
 *
 * Why it is sound: between two blocks of `splitBlocks` only constructs made by indentation (code, footnotes) can be open, and a text with
 * signs of these goes to the parser as a whole. Within a block, links are found by pattern unless another construct may absorb their
 * brackets. Code spans are removed first. That is certain where backticks are single and pair up on each line, because any construct that
 * could absorb a backtick begins before it and is still visible afterwards. A block that begins in column 0 continues no quote or list, so
 * the parser may read it alone.
 */
export function scanLinks(content: string): LinkSegment[] | undefined {
  const blocks = linkBlocks(content)
  if (blocks === undefined) return undefined
  const segments: LinkSegment[] = []
  for (const { lines, firstLine } of blocks) {
    const segment = scanBlock(
      lines.map(({ text }) => text),
      firstLine,
    )
    if ('source' in segment && !isReadableAlone(lines)) return undefined
    segments.push(segment)
  }
  return segments
}

/** Returns the blocks that may contain links and are independent of earlier blocks, or `undefined` if that is uncertain. */
export function linkBlocks(content: string): Block[] | undefined {
  if (!mayLink.test(content) && !content.includes(']:')) return []
  // The parser replaces NUL, and drops a byte order mark at its start.
  if (content.includes('\0') || content.includes('\uFEFF')) return undefined
  const blocks = splitBlocks(content)
  if (blocks === undefined) return undefined
  // A definition anywhere turns references to it into links, and absorbs their content.
  if (content.includes('](') && (definition.test(content) || footnoteLink.test(content))) return undefined
  if (content.includes(']:') && ((content.includes('![') && content.includes('][')) || definesLink(content)))
    return undefined
  const holding = blocks.filter(({ lines, marker }) => !marker && lines.some(({ text }) => mayLink.test(text)))
  // After a list marker, or on a continued line, four columns may make code; a tab counts up to four.
  const isIndented = holding.some(({ lines }) => lines.some(({ text }) => text.includes('    ') || text.includes('\t')))
  return isIndented ? undefined : holding
}

/** True if the parser may read a block alone, because it cannot continue a list. */
export function isReadableAlone([first]: Block['lines']): boolean {
  return first?.text.startsWith(' ') !== true
}

function scanBlock(lines: readonly string[], first: number): LinkSegment {
  const source = lines.join('\n')
  const needsParser: LinkSegment = { source, line: first }
  if (source.includes(']](')) return needsParser
  if (source.includes('|') && lines.some((line) => delimiterRow.test(line))) return needsParser
  const links: WikiLink[] = []
  for (const [index, line] of lines.entries()) {
    const text = withoutCode(line)
    if (text === undefined || taking.test(text.replace(link, ''))) return needsParser
    for (const [, mark, wiki, label = '', url = ''] of text.matchAll(link)) {
      if (mark === undefined) continue
      if (taking.test(wiki ?? label)) return needsParser
      const parsed = wiki === undefined ? markdownLink(url) : parseWikiLinkText(wiki)
      if (parsed) links.push({ ...parsed, embed: mark === '!', line: first + index })
    }
  }
  return { links }
}

function markdownLink(url: string): Omit<WikiLink, 'embed' | 'line'> | undefined {
  const destination = parseDestination(url)
  return destination && { ...destination, form: 'markdown' }
}

function definesLink(content: string): boolean {
  for (const [, url = ''] of content.matchAll(new RegExp(definition, 'g'))) {
    if (parseDestination(url) !== undefined) return true
  }
  return false
}

/** Replaces each code span by one backtick. Returns `undefined` if the spans are ambiguous. */
function withoutCode(line: string): string | undefined {
  if (!line.includes('`')) return line
  if (line.includes('``')) return undefined
  const text = line.replace(/`[^`]+`/g, '`')
  if (text.includes('\\`')) return undefined
  const spans = (line.length - line.replaceAll('`', '').length) / 2
  const isPaired = Number.isInteger(spans)
  // A wiki link may contain a backtick that follows `[[` before any bracket, which changes the pairs.
  return isPaired && !/\[\[[^[\]]*`/.test(text) ? text : undefined
}
