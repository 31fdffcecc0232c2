import { atxHeading } from '../../rules/text/atx-heading.ts'
import { closesFence } from '../../rules/text/fence.ts'
import { inlineText } from './inline-text.ts'

export type SourceBlock = {
  kind: 'heading' | 'paragraph' | 'list' | 'table' | 'code'
  /** First line of the block in the document, from 1. */
  line: number
  lines: string[]
  /** Level of a heading, 1 to 6; 0 if the block is not a heading. */
  depth: number
  /** True if its first two lines repeat the header of a table that was divided. */
  repeatsHeader?: true
}

/** Code in a list ends with the list. */
type Fence = { marker: string; isInList: boolean }

const blank = /^[ \t]*$/
/** Matches a fence behind the indentation and markers of list items, since a line in such code may look like a heading. */
const fence = /^(\s*(?:(?:[-+*]|\d{1,9}[.)])[ \t]+)*)(?:(`{3,})[^`]*|(~{3,}).*)$/s
const rule = /^ {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$/
const item = /^ {0,3}(?:[-+*]|\d{1,9}[.)])(?:[ \t]|$)/
/** Matches a list item that may interrupt a paragraph. */
const interruptingItem = /^ {0,3}(?:[-+*]|1[.)])[ \t]+\S/
const indented = /^(?: {2}|\t)/
/** Maximum characters of a line that is more than text. A longer one is text, however it begins. */
const maxHeading = 500
const wordPattern = /[\p{L}\p{M}\p{N}]+/gu
const word = /[\p{L}\p{M}]{2}|[\p{N}\p{Lo}]/u
const delimiterCell = /^:?-+:?$/
const address = /(?:https?:\/\/|www\.)\S+/gi

/**
 * Divides a document into blocks, in time linear in its lines. Uses no parser, because hostile text could slow it down. A list continues
 * over blank lines if an indented line or an item follows. Blank lines between blocks are part of none.
 */
export function sourceBlocks(markdown: string): SourceBlock[] {
  const scan = new BlockScan()
  for (const [index, line] of markdown.split('\n').entries()) scan.take(line, index + 1)
  return scan.blocks
}

class BlockScan {
  readonly blocks: SourceBlock[] = []
  #open: SourceBlock | undefined
  #code: Fence | undefined
  /** Whether the open list is followed by a blank line. */
  #isAfterBlank = false

  take(line: string, number: number): void {
    if (this.#code !== undefined && !(this.#code.isInList && /^\S/.test(line))) this.#takeCode(line, this.#code)
    else if (blank.test(line)) this.#takeBlank()
    else this.#takeText(line, number)
  }

  #takeCode(line: string, { marker }: Fence): void {
    this.#open?.lines.push(line)
    if (closesFence(line.trimStart(), marker)) this.#code = undefined
  }

  #takeBlank(): void {
    if (this.#open?.kind === 'list') this.#isAfterBlank = true
    else this.#open = undefined
  }

  #takeText(line: string, number: number): void {
    this.#code = undefined
    const isInList = this.#open?.kind === 'list' && (!this.#isAfterBlank || indented.test(line) || item.test(line))
    if (this.#isAfterBlank && !isInList) this.#open = undefined
    const isIndented = isInList && indented.test(line)
    const isHeading = !isIndented && line.length <= maxHeading
    const depth = isHeading ? atxHeading(line)?.level : undefined
    this.#code = fenceOf(line, isInList)
    if (depth !== undefined) {
      this.#begin('heading', line, number, depth)
      this.#open = undefined
    } else if (this.#code !== undefined) {
      if (isInList && this.#code.isInList) this.#add(line)
      else this.#begin(this.#code.isInList ? 'list' : 'code', line, number)
    } else if (isInList) this.#add(line)
    else if (!rule.test(line) && (this.#open?.kind === 'paragraph' ? interruptingItem : item).test(line))
      this.#begin('list', line, number)
    else if (this.#open === undefined || this.#open.kind === 'code') this.#begin('paragraph', line, number)
    else {
      if (this.#open.kind === 'paragraph' && beginsTable(this.#open, line)) this.#beginTable(this.#open, number)
      this.#add(line)
    }
  }

  #begin(kind: SourceBlock['kind'], line: string, number: number, depth = 0): void {
    this.#open = { kind, line: number, lines: [line], depth }
    this.#isAfterBlank = false
    this.blocks.push(this.#open)
  }

  #add(line: string): void {
    if (this.#isAfterBlank) this.#open?.lines.push('')
    this.#open?.lines.push(line)
    this.#isAfterBlank = false
  }

  /** Turns the last line of the paragraph into a table header, at the delimiter row after it. */
  #beginTable(paragraph: SourceBlock, number: number): void {
    if (paragraph.lines.length === 1) paragraph.kind = 'table'
    else this.#begin('table', paragraph.lines.pop() ?? '', number - 1)
  }
}

/** Counts the characters, with one for each line's end. */
export function sizeOf(blocks: readonly SourceBlock[]): number {
  let size = 0
  for (const { lines } of blocks) for (const line of lines) size += line.length + 1
  return size
}

/** Returns the words of Markdown as written. Letters that stand alone do not count: broken text consists of them. */
export function wordsIn(markdown: string): string[] {
  return (markdown.match(wordPattern) ?? []).filter((each) => word.test(each))
}

/** Whether a block has words, apart from a repeated header. */
export function hasWords({ repeatsHeader, lines }: SourceBlock): boolean {
  return (repeatsHeader ? lines.slice(2) : lines).some((line) => word.test(line))
}

function fenceOf(line: string, isInList: boolean): Fence | undefined {
  const [, before = '', backticks, tildes] = fence.exec(line) ?? []
  const marker = backticks ?? tildes
  // Indented by four columns outside of a list it is code itself.
  if (marker === undefined || (!isInList && /^(?: {4}| {0,3}\t)/.test(before))) return undefined
  const isOfList = before.trim() !== '' || (isInList && before !== '')
  return { marker, isInList: isOfList }
}

function beginsTable({ lines }: SourceBlock, line: string): boolean {
  return lines.at(-1)?.includes('|') === true && isDelimiterRow(line)
}

function isDelimiterRow(line: string): boolean {
  if (!/^[\s|:-]+$/.test(line) || !/[|:]/.test(line)) return false
  const cells = line.trim().replace(/^\||\|$/g, '')
  return cells.split('|').every((cell) => delimiterCell.test(cell.trim()))
}

/** Returns the Markdown of blocks that become a page, with headings that begin at level 2. */
export function pageText(blocks: readonly SourceBlock[]): string {
  let top = 6
  for (const { depth } of blocks) if (depth > 0) top = Math.min(top, depth)
  return blocks
    .map(({ depth, lines }) => {
      const text = lines.join('\n')
      return depth === 0 ? text : text.replace(/^ {0,3}#+/, '#'.repeat(Math.min(6, depth - top + 2)))
    })
    .join('\n\n')
}

/** Returns the approximate visible text of paragraphs and lists, one per line, without URLs. */
export function proseOf(blocks: readonly SourceBlock[]): string {
  return blocks
    .filter(({ kind }) => kind === 'paragraph' || kind === 'list')
    .map(({ kind, lines }) => (kind === 'list' ? lines.map(inlineText).join(',\n') : inlineText(lines.join('\n'))))
    .join('.\n')
    .replace(address, '.')
}
