import type { Root } from 'mdast'
import { closesFence } from '../../rules/text/fence.ts'
import { isTooComplex } from './parse-cost.ts'
import { parseMarkdown } from './parse-markdown.ts'
import { anyHtml, closedComment, columnsOf, linesOf, openHtml } from './split-blocks.ts'

/** Range of a page that can be parsed on its own. `line`: its 1-based first line in the page. */
export type Part = { source: string; start: number; line: number }

/** Target length of a part, in characters. Parsing takes more than linear time, so a page is parsed in parts. */
const partLength = 16 * 1024

const blank = /^[ \t]*$/
const bullet = /^[-+*][ \t]+\S/
const heading = /^#{1,6}[ \t]/
/** Matches a line that looks like a list item but may be the second line of a table. */
const delimiterRow = /^[-+*:| \t]+$/
const anyFence = /^[\s>*+\-\d.)]*(?:```|~~~)/
/** Matches a fence, also in bullets. */
const fence = /^(?<before>[ \t]*(?:[-+*][ \t]+)*)(?<marker>`{3,}(?=[^`]*$)|~{3,})/

type State =
  | { in: 'text' }
  /** State of HTML that ends at the next blank line. */
  | { in: 'html' }
  /** State of fenced code. `column`: column of the opening fence. */
  | { in: 'code'; column: number; marker: string }
  /** State of a construct whose end only a parser can find. */
  | { in: 'unknown' }

/**
 * Splits a page into parts that, parsed one by one, give the same blocks and links as the whole. A part begins in column 0, either after a
 * blank line or with a bullet or a heading. Such a line continues no quote, list, footnote, paragraph or table. It could only be inside a
 * fenced code block or an HTML block, so no part begins while one may be open. Definitions apply everywhere: a page that may contain any is
 * one part.
 */
export function splitParts(page: string, length = partLength): Part[] {
  if (page.length <= length || page.includes(']:') || page.includes('\uFEFF')) {
    return [{ source: page, start: 0, line: 1 }]
  }
  const parts: Part[] = []
  let first = { start: 0, line: 1 }
  let state: State = { in: 'text' }
  let isAfterBlank = false
  for (const [index, { text, start }] of linesOf(page).entries()) {
    if (state.in === 'text' && start - first.start >= length && mayBegin(text, isAfterBlank)) {
      parts.push({ source: page.slice(first.start, start), ...first })
      first = { start, line: index + 1 }
    }
    state = nextState(state, text)
    isAfterBlank = blank.test(text)
  }
  return [...parts, { source: page.slice(first.start), ...first }]
}

/** True if a part may begin with this line. After indented code, micromark takes an empty item, or one whose number is not 1, for text. */
function mayBegin(line: string, isAfterBlank: boolean): boolean {
  return (
    (isAfterBlank && /^[^\s\-+*\d]/.test(line)) || (bullet.test(line) && !delimiterRow.test(line)) || heading.test(line)
  )
}

function nextState(state: State, line: string): State {
  if (state.in === 'unknown') return state
  if (state.in === 'code') return nextInCode(state, line)
  if (openHtml.test(line) && !closedComment.test(line)) return { in: 'unknown' }
  if (anyFence.test(line)) return state.in === 'html' ? { in: 'unknown' } : afterFence(line)
  if (state.in === 'html') return blank.test(line) ? { in: 'text' } : state
  return anyHtml.test(line) ? { in: 'html' } : state
}

function afterFence(line: string): State {
  const { before = '', marker = '' } = fence.exec(line)?.groups ?? {}
  if (marker === '') return { in: 'unknown' }
  return { in: 'code', column: columnsOf(before.replace(/\S/g, ' ')), marker }
}

/**
 * Returns the state after a line in fenced code. In a list, a line with less indentation ends the item and its code; whether there is a
 * list is unknown here.
 */
function nextInCode(state: State & { in: 'code' }, line: string): State {
  if (blank.test(line)) return state
  const content = line.trimStart()
  const column = columnsOf(line.slice(0, line.length - content.length))
  if (closesFence(content, state.marker)) return { in: column === state.column ? 'text' : 'unknown' }
  return column < state.column ? { in: 'unknown' } : state
}

/** Parsed part of a page. `tree`: undefined if the part is too complex to parse. */
export type ParsedPart = Part & { tree: Root | undefined }

/** Parses a page, or a range of it, in parts. The length of a part bounds its time and memory. */
export function parseParts(source: string): ParsedPart[] {
  return splitParts(source).map((part) => ({ ...part, tree: unlessTooComplex(part.source, parseMarkdown) }))
}

/** True if a part of a page is too complex to parse. Takes linear time. */
export function hasComplexPart(page: string): boolean {
  return splitParts(page).some(({ source }) => isTooComplex(source))
}

/** Parses a part; undefined if it is too complex. */
export function unlessTooComplex<Parsed>(source: string, parse: (source: string) => Parsed): Parsed | undefined {
  if (isTooComplex(source)) return undefined
  try {
    return parse(source)
  } catch (error) {
    // Deeply nested Markdown has exhausted the stack of the parser.
    if (error instanceof RangeError) return undefined
    throw error
  }
}
