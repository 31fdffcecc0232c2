/** A recognised word or piece of a line, in any unit of length, from the top left corner. */
export type Box = { text: string; x: number; y: number; width: number; height: number }

export type OcrRow = {
  /** Words from left to right. */
  boxes: Box[]
  left: number
  right: number
  top: number
  bottom: number
  /** Approximate font size. */
  size: number
}

/** Returns rows from top to bottom. Follows each line from word to word, so that a skewed page works, too. */
export function rowsOf(boxes: readonly Box[]): OcrRow[] {
  const rows: Box[][] = []
  for (const box of boxes.toSorted((a, b) => a.x - b.x)) {
    let nearest: Box[] | undefined
    let most = 0.4
    for (const row of rows) {
      const last = row.at(-1)
      const share = last === undefined ? 0 : overlap(last, box)
      if (share > most) {
        most = share
        nearest = row
      }
    }
    if (nearest) nearest.push(box)
    else rows.push([box])
  }
  return rows.map(rowOf).sort((a, b) => a.top + a.bottom - b.top - b.bottom)
}

/** Returns the vertical overlap of two boxes, as a share of the lower one's height. */
function overlap(a: Box, b: Box): number {
  const shared = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y)
  return shared / Math.min(a.height, b.height)
}

export function rowOf(boxes: Box[]): OcrRow {
  return {
    boxes,
    left: Math.min(...boxes.map(({ x }) => x)),
    right: Math.max(...boxes.map(({ x, width }) => x + width)),
    top: median(boxes.map(({ y }) => y)),
    bottom: median(boxes.map(({ y, height }) => y + height)),
    size: median(boxes.map(fontSize)),
  }
}

/** Estimates the font size from the height of a word and the parts its letters have, by the proportions of common fonts. */
function fontSize({ text, height }: Box): number {
  const above = /[\p{Lu}\p{N}bdfhklt()[\]|/]/u.test(text) ? 0.21 : 0
  const below = /[gjpqyQ,;()[\]|/]/.test(text) ? 0.21 : 0
  return height / (0.52 + above + below)
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
}
