import { columnsOf } from './ocr-columns.ts'
import { type Box, median, type Row, rowsOf } from './ocr-rows.ts'
import { plainLine } from './office-text.ts'
import { joinLines } from './pdf-lines.ts'

/**
 * Markdown of a page in reading order: rows by the overlap of neighbouring words, columns by the gutter that most rows leave
 * free, paragraphs by gaps, indents and short last lines, headings by the size of their print.
 */
export function layoutMarkdown(boxes: readonly Box[]): string {
  const words = boxes.filter(({ text, width, height }) => text.trim() !== '' && width > 0 && height > 0)
  const { upright = [], sideways = [] } = Object.groupBy(words, (box) => (isSideways(box) ? 'sideways' : 'upright'))
  const rows = rowsOf(upright)
  const size = median(rows.map((row) => row.size))
  const paragraphs = columnsOf(rows, size).flatMap((column) => paragraphsOf(column, size))
  const margin = plainLine(sideways.map(({ text }) => text).join(' '))
  return [...paragraphs, margin].filter((paragraph) => paragraph !== '').join('\n\n')
}

/** Print that runs up or down a margin. */
function isSideways({ text, width, height }: Box): boolean {
  return text.length > 2 && height > width * 2
}

/** @param size of the print of the page */
function paragraphsOf(rows: readonly Row[], size: number): string[] {
  const pitch = median(rows.slice(1).map(({ top }, at) => top - (rows[at]?.top ?? 0)))
  const left = median(rows.map((row) => row.left))
  const right = Math.max(...rows.map((row) => row.right))
  const paragraphs: { text: string; size: number; rows: number }[] = []
  let previous: Row | undefined
  for (const row of rows) {
    const text = row.boxes.map((box) => box.text.trim()).join(' ')
    const last = paragraphs.at(-1)
    const begins =
      last === undefined ||
      previous === undefined ||
      row.top - previous.top > pitch * 1.4 ||
      isLarge(row.size, previous.size) ||
      isLarge(previous.size, row.size) ||
      (row.left > left + size && previous.left <= left + size) ||
      (previous.right < right - (right - left) * 0.15 && /[.:;!?]["”’)]?$/.test(last.text))
    if (begins) paragraphs.push({ text, size: row.size, rows: 1 })
    else {
      last.text = joinLines(last.text, text)
      last.rows += 1
    }
    previous = row
  }
  return paragraphs.map((paragraph) => {
    const isHeading = isLarge(paragraph.size, size) && paragraph.rows <= 2 && /\p{L}{4}/u.test(paragraph.text)
    return (isHeading ? '## ' : '') + plainLine(paragraph.text)
  })
}

function isLarge(size: number, other: number): boolean {
  return size > other * 1.3
}
