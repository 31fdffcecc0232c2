import type { Box } from '../pdf/ocr-rows.ts'
import { median, type OcrRow, rowOf } from '../pdf/ocr-rows.ts'

/** Rows that a gutter between columns needs on its both sides. */
const fewestColumnRows = 5

/** The rows of each column in reading order; rows across columns come between what is above and below them. */
export function ocrColumns(rows: readonly OcrRow[], lineHeight: number): OcrRow[][] {
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
 * The strip that most of the rows on both of its sides leave free. Both sides have to be well filled: the columns of a table
 * are not, and its rows stay whole.
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
