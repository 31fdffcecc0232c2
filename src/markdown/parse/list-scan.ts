import { scanParagraph } from './paragraph-scan.ts'
import type { BlockPiece } from './piece.ts'
import { type Line, rangeOf } from './split-blocks.ts'

/** Indentation, marker, blanks, box of a task. */
const item = /^([ \t]*)(?:([-+*])|(\d{1,9})([.)]))( {1,4})(?:\[[ xX]\] )?(?=\S)/

/** An item that is open: the column where its content begins, and its kind of list. */
type Level = { content: number; kind: string }

export function isItem(line: string): boolean {
  return item.test(line)
}

/**
 * The top-level items of a list with one line to an item, nested or not, if that is certain without a parser. An item is nested
 * where it is indented to the content of another, by three columns more at most: by four more it would be no item.
 */
export function scanList(lines: readonly Line[]): BlockPiece[] | undefined {
  const items: { lines: Line[]; text: string[] }[] = []
  let levels: Level[] = []
  for (const line of lines) {
    const [marker, indent = '', bullet, number = '', delimiter, blanks = ''] = item.exec(line.text) ?? []
    if (marker === undefined) return undefined
    const column = columnsOf(indent)
    const kind = bullet ?? delimiter ?? ''
    const sibling = levels.find(({ content }) => column < content)
    levels = levels.filter(({ content }) => column >= content)
    const outer = levels.at(-1)?.content ?? 0
    // Only the number 1 begins a list in the midst of a paragraph; micromark holds to that after indented code as well.
    if (sibling?.kind !== kind && (number === '' ? items.length > 0 && levels.length === 0 : Number(number) !== 1))
      return undefined
    if (levels.length === 0 ? column > 0 : column - outer > 3) return undefined
    const text = scanParagraph([line.text.slice(marker.length)])
    if (text === undefined) return undefined
    levels.push({ content: column + (bullet ?? number + delimiter).length + blanks.length, kind })
    if (levels.length === 1) items.push({ lines: [], text: [] })
    items.at(-1)?.lines.push(line)
    if (text !== '') items.at(-1)?.text.push(text)
  }
  return items.map((whole) => ({ ...rangeOf(whole.lines), text: whole.text.join('\n'), glue: '\n' }))
}

export function columnsOf(indent: string): number {
  let column = 0
  for (const blank of indent) column += blank === '\t' ? 4 - (column % 4) : 1
  return column
}
