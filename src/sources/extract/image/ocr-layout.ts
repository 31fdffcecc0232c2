import { plainLine } from '../markdown/escape-markdown.ts'
import { type Box, median, type OcrRow, rowOf, rowsOf } from '../pdf/ocr-rows.ts'
import {
  blanksForHyphens,
  hasHyphensForBlanks,
  joinLines,
  withoutAbsurdHyphens,
  withoutBlanksWithin,
} from '../pdf/pdf-lines.ts'

/** Minimum number of rows on each side of a gutter between columns. */
const fewestColumnRows = 5

/** Minimum characters of the text below a heading. */
const leastProse = 60

/**
 * Returns the Markdown of a page in reading order. Rows are found by the overlap of neighbouring words, columns by the gutter that most
 * rows leave free, paragraphs by gaps, indents and short last lines, and headings by font size.
 */
export function layoutMarkdown(boxes: readonly Box[]): string {
  const words = boxes.filter(({ text, width, height }) => text.trim() !== '' && width > 0 && height > 0)
  const { upright = [], sideways = [] } = Object.groupBy(words, (box) => (isSideways(box) ? 'sideways' : 'upright'))
  const rows = rowsOf(upright)
  const size = median(rows.map((row) => row.size))
  const paragraphs = ocrColumns(rows, size).flatMap((column) => paragraphsOf(column, size))
  const margin = plainLine(sideways.map(({ text }) => text).join(' '))
  return [...paragraphs, margin].filter((paragraph) => paragraph !== '').join('\n\n')
}

/** True for text that runs up or down a margin. */
export function isSideways({ text, width, height }: Pick<Box, 'text' | 'width' | 'height'>): boolean {
  return text.length > 2 && height > width * 2
}

const fromRight = /[\p{sc=Hebrew}\p{sc=Arabic}]/gu

/** Returns the words of a row in reading order, without blanks in scripts that have none. */
function textOf(boxes: readonly Box[]): string {
  // The words within one box run from left to right, too.
  const words = boxes.flatMap((box) => box.text.trim().split(/\s+/))
  const text = words.join(' ')
  return withoutBlanksWithin(isFromRight(text) ? wordsFromRight(words).join(' ') : text)
}

function isFromRight(text: string): boolean {
  return 2 * (text.match(fromRight)?.length ?? 0) > (text.match(/\p{L}/gu)?.length ?? 0)
}

/** Returns the words of a right-to-left row in reading order. Consecutive Latin words stay in order from left to right. */
function wordsFromRight(words: readonly string[]): string[] {
  const isFromLeft = (word: string | undefined) =>
    word !== undefined && /\p{L}/u.test(word) && word.search(fromRight) < 0
  const runs: string[][] = []
  for (const [at, word] of words.entries()) {
    if (isFromLeft(word) && isFromLeft(words[at - 1])) runs.at(-1)?.push(word)
    else runs.push([word])
  }
  return runs.toReversed().flat()
}

type Paragraph = { text: string; size: number; rows: number; isHyphenated: boolean }

/** Groups rows into paragraphs. @param size font size of the page */
function paragraphsOf(asPrinted: readonly OcrRow[], size: number): string[] {
  const texts = asPrinted.map((row) => textOf(row.boxes))
  // Right-to-left text has its indents on the right, and its short last lines end on the left.
  const isMirrored = isFromRight(texts.join(' '))
  const rows = isMirrored ? asPrinted.map((row) => ({ ...row, left: -row.right, right: -row.left })) : asPrinted
  const pitch = median(rows.slice(1).map(({ top }, at) => top - (rows[at]?.top ?? 0)))
  const left = median(rows.map((row) => row.left))
  const right = Math.max(...rows.map((row) => row.right))
  const paragraphs: Paragraph[] = []
  let previous: OcrRow | undefined
  for (const [at, row] of rows.entries()) {
    const text = texts[at] ?? ''
    const isHyphenated = hasHyphensForBlanks(text, texts[at + 1] ?? '')
    const last = paragraphs.at(-1)
    const continues = last?.isHyphenated === true && isHyphenated && /^\p{Ll}/u.test(text)
    const begins =
      last === undefined ||
      previous === undefined ||
      row.top - previous.top > pitch * 1.4 ||
      isLarge(row.size, previous.size) ||
      isLarge(previous.size, row.size) ||
      last.isHyphenated !== isHyphenated ||
      (row.left > left + size && previous.left <= left + size) ||
      (previous.right < right - (right - left) * 0.15 && /[.:;!?]["”’)]?$/.test(last.text))
    if (begins && !continues) paragraphs.push({ text, size: row.size, rows: 1, isHyphenated })
    else {
      last.text = isHyphenated ? `${last.text} ${text}` : joinLines(last.text, text)
      last.rows += 1
    }
    previous = row
  }
  return paragraphs.map((paragraph, at) => {
    const isHeading =
      paragraph.rows <= 2 &&
      /\p{L}{4}/u.test(paragraph.text) &&
      (isLarge(paragraph.size, size) || isHyphenatedHeading(paragraph, paragraphs[at - 1], paragraphs[at + 1]))
    const bare = paragraph.isHyphenated ? blanksForHyphens(paragraph.text) : withoutAbsurdHyphens(paragraph.text)
    return (isHeading ? '## ' : '') + plainLine(isHeading ? bare.replace(/(?<=\p{L})[-–]+$/u, '') : bare)
  })
}

/** True if hyphens in place of blanks show a heading: they come from a font that only the heading uses. */
function isHyphenatedHeading({ text, isHyphenated }: Paragraph, before?: Paragraph, after?: Paragraph): boolean {
  if (!isHyphenated || before?.isHyphenated || after === undefined || after.isHyphenated) return false
  const isCaption = /^(?:Table|Figure) ?\d+$/.test(before?.text ?? '')
  return /^\p{Lu}/u.test(text) && !isCaption && after.text.length >= leastProse
}

function isLarge(size: number, other: number): boolean {
  return size > other * 1.3
}

/** Returns the rows of each column in reading order. A row across columns comes between the rows above and below it. */
function ocrColumns(rows: readonly OcrRow[], lineHeight: number): OcrRow[][] {
  const gutter = findGutter(rows, lineHeight)
  if (gutter === undefined) return [[...rows]]
  const columns: OcrRow[][] = []
  let sides: [OcrRow[], OcrRow[]] = [[], []]
  let across: OcrRow[] = []
  const flush = () => {
    if (across.length > 0) columns.push(across)
    for (const side of sides) if (side.length > 0) columns.push(...ocrColumns(side, lineHeight))
    across = []
    sides = [[], []]
  }
  for (const row of rows) {
    const isAcross = crosses(row, gutter)
    if (isAcross !== across.length > 0) flush()
    if (isAcross) across.push(row)
    else
      sidesOf(row, gutter).forEach((boxes, side) => {
        if (boxes.length > 0) sides[side]?.push(rowOf(boxes))
      })
  }
  flush()
  return columns
}

type Gutter = { from: number; to: number }

/**
 * Returns the strip that most rows on both of its sides leave free. Both sides must be well filled, so that a table is not split into
 * columns.
 */
function findGutter(rows: readonly OcrRow[], lineHeight: number): Gutter | undefined {
  let best: Gutter | undefined
  let most = fewestColumnRows - 1
  const starts = new Set(rows.flatMap(({ boxes }) => boxes.map(({ x }) => Math.round(x / (lineHeight / 4)))))
  for (const start of starts) {
    const to = start * (lineHeight / 4) - lineHeight / 8
    const gutter = { from: to - lineHeight * 0.8, to }
    const beside = rows.filter(({ left, right }) => left < gutter.from && right > gutter.to)
    const free = beside.filter((row) => !crosses(row, gutter))
    if (free.length > most && free.length > beside.length * 0.6 && isFilled(free, gutter)) {
      most = free.length
      best = gutter
    }
  }
  return best
}

function crosses({ boxes }: OcrRow, { from, to }: Gutter): boolean {
  return boxes.some(({ x, width }) => x < to && x + width > from)
}

function sidesOf({ boxes }: OcrRow, { from }: Gutter): [Box[], Box[]] {
  return [boxes.filter(({ x }) => x < from), boxes.filter(({ x }) => x >= from)]
}

function isFilled(rows: readonly OcrRow[], gutter: Gutter): boolean {
  const left = Math.min(...rows.map((row) => row.left))
  const right = Math.max(...rows.map((row) => row.right))
  const filled = (side: 0 | 1, width: number) =>
    median(rows.map((row) => sidesOf(row, gutter)[side].reduce((sum, box) => sum + box.width, 0))) > width * 0.55
  return filled(0, gutter.from - left) && filled(1, right - gutter.to)
}
