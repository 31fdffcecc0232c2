import type { WikiLink } from '../../rules/neurons/neuron.ts'
import { type Block, splitBlocks } from '../parse/split-blocks.ts'
import { parseWikiLinkText } from '../parse/wiki-link-text.ts'
import { mayLinkInHtml } from './html-links.ts'
import { parseDestination } from './markdown-link.ts'

/** Links that are certain, or a part of the text that only a parser can judge; `line` is the 1-based line of its first. */
export type LinkSegment = { links: WikiLink[] } | { source: string; line: number }

const mayLink = new RegExp(`\\[\\[|\\]\\(|${mayLinkInHtml.source}`, mayLinkInHtml.flags)
/** What a table's delimiter row is made of, with any quote or list markers before it. */
const delimiterRow = /^[\s>*+\-\d.)|:]+$/
/** What may take a bracket into something else: escapes, math, HTML and autolinks, other links, and definitions. */
const taking = /[\\$<@]|\[\[|\]\(|\]:|:\/\/|www\./i
/** An escaped sign; a wiki link, or a Markdown link with nothing special in it. */
const link = /\\[!-/:-@[-`{-~]|(!?)(?:\[\[([^[\]]+)\]\]|\[(?!\^)([^[\]<\\@:]*)\]\(([^\s\p{Cc}()`[\]<>\\&]*)\))/gu
/** A definition, but of a footnote. What stands before is looked at only where there is one, which takes linear time. */
const definition = /(?=\]:)(?<!\[\^[^\]\n]*)\]:\s*<?([^\s>]*)/
const footnoteLink = /(?=\]\()(?<=\[\^[^\]]*)/

/**
 * Finds links without a Markdown parser where that is provably what the parser would find, and names the parts that need
 * one; `undefined` when the whole text does. Without it, an import takes 1.24 × the CPU time.
 *
 * Why it is sound. Between two blocks, as `splitBlocks` finds them, nothing is open but what indentation by four columns makes
 * (code, footnotes), whose signs give the whole text to the parser. In a block, links are read by pattern unless
 * something in it may take brackets into another construct. Code spans are cut out first, which is certain where backticks come
 * singly and pair up on each line: whatever else could take a backtick begins before it, so it is still there, and seen, after
 * the cut. A block that begins at column 0 continues no quote and no list, so the parser may read it alone.
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

/** The blocks that may hold links, in which nothing is open that began before; `undefined` where that is not certain. */
export function linkBlocks(content: string): Block[] | undefined {
  if (!mayLink.test(content) && !content.includes(']:')) return []
  // The parser replaces the one, and drops the other at its start.
  if (content.includes('\0') || content.includes('\uFEFF')) return undefined
  const blocks = splitBlocks(content)
  if (blocks === undefined) return undefined
  // A definition, wherever it is, makes links of references to it, and takes what is in them.
  if (content.includes('](') && (definition.test(content) || footnoteLink.test(content))) return undefined
  if (content.includes(']:') && ((content.includes('![') && content.includes('][')) || definesLink(content)))
    return undefined
  const holding = blocks.filter(({ lines, marker }) => !marker && lines.some(({ text }) => mayLink.test(text)))
  // Columns: after a marker, or on a line that continues it, four blanks may make code; a tab counts up to four.
  const isIndented = holding.some(({ lines }) => lines.some(({ text }) => text.includes('    ') || text.includes('\t')))
  return isIndented ? undefined : holding
}

/** A block that may continue a list is not the parser's to read alone. */
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

/** Each code span becomes one backtick; `undefined` when it is not certain where spans are. */
function withoutCode(line: string): string | undefined {
  if (!line.includes('`')) return line
  if (line.includes('``')) return undefined
  const text = line.replace(/`[^`]+`/g, '`')
  if (text.includes('\\`')) return undefined
  const spans = (line.length - line.replaceAll('`', '').length) / 2
  const isPaired = Number.isInteger(spans)
  // `[[` that a backtick follows before any bracket may be a link that holds it, and then the pairs are other ones.
  return isPaired && !/\[\[[^[\]]*`/.test(text) ? text : undefined
}
