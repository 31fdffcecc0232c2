import { closesFence, fenceMarker } from '../../rules/text/fence.ts'

/** Line without its line end, with offsets in the page. */
export type Line = { text: string; start: number; end: number }

/** Lines without a blank line between them, or those of a fenced code block. `firstLine` is 1-based. */
export type Block = {
  lines: Line[]
  firstLine: number
  /** Opening fence. Absent: the block is no code. */
  marker?: string
}

const blank = /^[ \t]*$/
/**
 * Matches the start of HTML that a blank line does not end (conditions 1 to 5 of CommonMark's HTML blocks; 6 and 7 end where a block
 * does), preceded only by markers of quotes, lists or items.
 */
export const openHtml = /^[\s>*+\-\d.)]*<(?:[!?]|(?:script|pre|style|textarea)(?:[\s>]|$))/i
/** Matches a comment that ends on its first line, which also ends its block. */
export const closedComment = /^[\s>*+\-\d.)]*<!--.*-->/
/** Matches the start of any HTML, in which a line that looks like a fence is none. */
export const anyHtml = /^[\s>*+\-\d.)]*</

/**
 * Splits a page into blocks at blank lines and at fences in column 0. Returns `undefined` if a construct may span blocks. A blank line ends
 * every paragraph, heading and table, so inline constructs never span blocks, whatever quotes and lists they are in. Only fences, HTML
 * blocks and indentation by four columns (code, footnotes) can. A fence in column 0 is at the top level, since no quote or list can contain
 * it; any other sign of fences and HTML may span blocks. The caller must check indentation.
 */
export function splitBlocks(page: string): Block[] | undefined {
  const blocks: Block[] = []
  let open: Block | undefined
  for (const [index, line] of linesOf(page).entries()) {
    const { text } = line
    const marker = open?.marker ? undefined : fenceMarker(text)
    if (open?.marker) {
      open.lines.push(line)
      if (closesFence(text, open.marker)) open = undefined
    } else if (marker !== undefined) {
      if (open?.lines.some((before) => anyHtml.test(before.text))) return undefined
      open = { lines: [line], firstLine: index + 1, marker }
      blocks.push(open)
    } else if (blank.test(text)) open = undefined
    else if (reachesAcross(text)) return undefined
    else if (open) open.lines.push(line)
    else {
      open = { lines: [line], firstLine: index + 1 }
      blocks.push(open)
    }
  }
  return blocks
}

export function rangeOf(lines: readonly Line[]): { start: number; end: number } {
  return { start: lines[0]?.start ?? 0, end: lines.at(-1)?.end ?? 0 }
}

/** Splits a text into lines. An empty text has one empty line. */
export function linesOf(text: string): Line[] {
  const lines: Line[] = []
  let start = 0
  for (const { index, 0: lineEnd } of text.matchAll(/\r\n|[\r\n]/g)) {
    lines.push({ text: text.slice(start, index), start, end: index })
    start = index + lineEnd.length
  }
  lines.push({ text: text.slice(start), start, end: text.length })
  return lines
}

export function columnsOf(indent: string): number {
  let column = 0
  for (const blank of indent) column += blank === '\t' ? 4 - (column % 4) : 1
  return column
}

function reachesAcross(line: string): boolean {
  return line.includes('```') || line.includes('~~~') || (openHtml.test(line) && !closedComment.test(line))
}
