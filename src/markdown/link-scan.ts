import type { WikiLink } from '../knowledge/neuron.ts'
import { parseWikiLinkText } from './wiki-link-text.ts'

/** Links that are certain, or a part of the text that only a parser can judge; `line` is the 1-based line of its first. */
export type LinkSegment = { links: WikiLink[] } | { source: string; line: number }

type Block = { lines: string[]; first: number }

const blank = /^[ \t]*$/
const fence = /^(?:(`{3,})[^`]*|(~{3,}).*)$/s
/**
 * After nothing but what may open a quote, a list or an item: the start of HTML that a blank line does not end (conditions 1
 * to 5 of CommonMark's HTML blocks; 6 and 7 end where a block does).
 */
const htmlStart = /^[\s>*+\-\d.)]*<(?:[!?]|(?:script|pre|style|textarea)(?:[\s>]|$))/i
/** A comment that ends on the line it begins on, as its block then does. */
const closedComment = /^[\s>*+\-\d.)]*<!--.*-->/

/** The start of any HTML: in it, what looks like a fence is none. */
const anyHtmlStart = /^[\s>*+\-\d.)]*</

/** What a table's delimiter row is made of, with any quote or list markers before it. */
const delimiterRow = /^[\s>*+\-\d.)|:]+$/
/** What may take a `[[` into something else: escapes, HTML and autolinks, link destinations and definitions. */
const taking = /[\\<@]|\]\(|\]:|:\/\/|www\./i
const link = /(!?)\[\[([^[\]]+)\]\]/g

/**
 * Finds wiki links without a Markdown parser where that is provably what the parser would find, and names the parts that need
 * one; `undefined` when the whole text does.
 *
 * Why it is sound. A literally blank line ends every paragraph, heading and table, so between two of them (a block) inline
 * constructs are closed in themselves, whatever quotes and lists they are in. Only fences, HTML blocks and indentation by four
 * columns (code, footnotes) reach across. A fence at column 0 stands at the top level, since no quote or list can hold it, and
 * is skipped; every other sign of the three gives the whole text to the parser. In a block, links are read by pattern unless
 * something in it may take brackets into another construct. Code spans are cut out first, which is certain where backticks come
 * singly and pair up on each line: whatever else could take a backtick begins before it, so it is still there, and seen, after
 * the cut. A block that begins at column 0 continues no quote and no list, so the parser may read it alone.
 */
export function scanLinks(content: string): LinkSegment[] | undefined {
  if (!content.includes('[[')) return []
  // The parser replaces the one, and drops the other at its start.
  if (content.includes('\0') || content.includes('\uFEFF')) return undefined
  const blocks = splitBlocks(content.replace(/\r\n?/g, '\n').split('\n'))
  if (blocks === undefined) return undefined
  // The definition of an image by reference, wherever it is, takes the image's alt text with any link in it.
  if (content.includes(']:') && content.includes('![') && content.includes('][')) return undefined
  const segments: LinkSegment[] = []
  for (const block of blocks) {
    if (!block.lines.some((line) => line.includes('[['))) continue
    // Columns: after a marker, or on a line that continues it, four blanks may make code; a tab counts up to four.
    if (block.lines.some((line) => line.includes('    ') || line.includes('\t'))) return undefined
    const segment = scanBlock(block)
    // A block that may continue a list is not the parser's to read alone.
    if ('source' in segment && segment.source.startsWith(' ')) return undefined
    segments.push(segment)
  }
  return segments
}

/** Runs of lines between blank lines and fences at column 0; `undefined` when something may reach across them. */
function splitBlocks(lines: readonly string[]): Block[] | undefined {
  const blocks: Block[] = []
  let open: Block | undefined
  let fenceEnd: RegExp | undefined
  for (const [index, line] of lines.entries()) {
    if (fenceEnd) {
      if (fenceEnd.test(line)) fenceEnd = undefined
      continue
    }
    const [, backticks, tildes] = fence.exec(line) ?? []
    const marker = backticks ?? tildes
    if (marker !== undefined) {
      if (open?.lines.some((inBlock) => anyHtmlStart.test(inBlock))) return undefined
      fenceEnd = new RegExp(`^ {0,3}${marker}${marker[0]}*[ \\t]*$`)
      open = undefined
    } else if (blank.test(line)) open = undefined
    else {
      if (reachesAcross(line)) return undefined
      if (open) open.lines.push(line)
      else {
        open = { lines: [line], first: index + 1 }
        blocks.push(open)
      }
    }
  }
  return blocks
}

function reachesAcross(line: string): boolean {
  return line.includes('```') || line.includes('~~~') || (htmlStart.test(line) && !closedComment.test(line))
}

function scanBlock({ lines, first }: Block): LinkSegment {
  const source = lines.join('\n')
  const needsParser: LinkSegment = { source, line: first }
  if (source.includes('|') && lines.some((line) => delimiterRow.test(line))) return needsParser
  const links: WikiLink[] = []
  for (const [index, line] of lines.entries()) {
    const text = withoutCode(line)
    if (text === undefined || taking.test(text)) return needsParser
    for (const [, mark, inner = ''] of text.matchAll(link)) {
      const parsed = parseWikiLinkText(inner)
      if (parsed) links.push({ ...parsed, embed: mark === '!', line: first + index })
    }
  }
  return { links }
}

/** Each code span becomes one backtick; `undefined` when it is not certain where spans are. */
function withoutCode(line: string): string | undefined {
  if (!line.includes('`')) return line
  if (line.includes('``')) return undefined
  const text = line.replace(/`[^`]+`/g, '`')
  const spans = (line.length - line.replaceAll('`', '').length) / 2
  const isPaired = Number.isInteger(spans)
  // `[[` that a backtick follows before any bracket may be a link that holds it, and then the pairs are other ones.
  return isPaired && !/\[\[[^[\]]*`/.test(text) ? text : undefined
}
