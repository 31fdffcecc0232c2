import { closesFence, fenceMarker } from '../../rules/text/fence.ts'

/** A line without its line end, at offsets in the page. */
export type Line = { text: string; start: number; end: number }

/** Lines without a blank one between them, or those of a fenced code block; `firstLine` is 1-based. */
export type Block = {
  lines: Line[]
  firstLine: number
  /** Of the fence that begins it; absent: it is no code. */
  marker?: string
}

const blank = /^[ \t]*$/
/**
 * After nothing but what may open a quote, a list or an item: the start of HTML that a blank line does not end (conditions 1
 * to 5 of CommonMark's HTML blocks; 6 and 7 end where a block does).
 */
const htmlStart = /^[\s>*+\-\d.)]*<(?:[!?]|(?:script|pre|style|textarea)(?:[\s>]|$))/i
/** A comment that ends on the line it begins on, as its block then does. */
const closedComment = /^[\s>*+\-\d.)]*<!--.*-->/
/** The start of any HTML: in it, what looks like a fence is none. */
const anyHtmlStart = /^[\s>*+\-\d.)]*</

/**
 * The blocks between blank lines and fences at column 0; `undefined` when something may reach across them.
 *
 * A literally blank line ends every paragraph, heading and table, so in a block inline constructs are closed in themselves,
 * whatever quotes and lists they are in. Only fences, HTML blocks and indentation by four columns (code, footnotes) reach
 * across. A fence at column 0 stands at the top level, since no quote or list can hold it; any other sign of fences and HTML
 * may reach across. Indentation is for the caller to judge.
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
      if (open?.lines.some((before) => anyHtmlStart.test(before.text))) return undefined
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

/** At least one line, which is empty in an empty text. */
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
  return line.includes('```') || line.includes('~~~') || (htmlStart.test(line) && !closedComment.test(line))
}
