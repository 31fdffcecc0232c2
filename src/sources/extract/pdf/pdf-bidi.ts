import { LiteParse, type PageInput, type ParsedPage } from '@llamaindex/liteparse'
import { countLettersByDirection, type Direction, hasSwappedLigature, logicalWords, widestBlank } from './bidi-words.ts'
import { type Box, rowsOf } from './ocr-rows.ts'

/** Minimum number of adjacent right-to-left words for their order to matter. */
const neighbours = /[\p{Script=Arabic}\p{Script=Hebrew}]\S*\s+\S*[\p{Script=Arabic}\p{Script=Hebrew}]/u

/** Minimum width of a blank, as a multiple of the height of a word. */
const narrowestBlank = 0.1
const endsInLetter = /\p{L}\p{M}*$/u
const beginsWithLetter = /^\p{L}/u

/** True if the words of a page are in visual order, from left to right in every script. */
export function isVisuallyOrdered(text: string): boolean {
  return neighbours.test(text)
}

/** Returns doubts about pages whose text was reordered. @param texts of the pages, as they were read */
export function orderDoubts(texts: readonly string[]): string[] {
  const doubt =
    'Letters of Arabic ligatures (lam and alef) may have changed places: the PDF does not say which is first.'
  return texts.some(hasSwappedLigature) ? [doubt] : []
}

/**
 * Reads pages with right-to-left lines again. A page of such lines is laid out as its own mirror image, whose lines, columns and cells run
 * from left to right.
 * @returns the pages with their words in logical order, by number
 */
export async function withLogicalOrder(
  source: Buffer,
  pages: readonly number[],
): Promise<Map<number, Pick<ParsedPage, 'markdown' | 'text'>>> {
  if (pages.length === 0) return new Map()
  const options = { ocrEnabled: false, outputFormat: 'markdown', imageMode: 'off', numWorkers: 1, quiet: true } as const
  const reader = new LiteParse({
    ...options,
    targetPages: pages.join(','),
    emitWordBoxes: true,
    extractTextMetadata: true,
    extractVectorGraphics: true,
  })
  const read = await reader.parse(source)
  const laidOut = new LiteParse(options).parsePages(read.pages.map(logicalPage))
  return new Map(laidOut.pages.map((page) => [page.pageNum, page]))
}

function logicalPage({
  pageNum,
  width: pageWidth,
  height: pageHeight,
  text,
  textItems,
  vectorGraphics,
}: ParsedPage): PageInput {
  const letters = countLettersByDirection(text)
  const direction: Direction = letters.rtl > letters.ltr ? 'rtl' : 'ltr'
  const isMirrored = direction === 'rtl'
  const placed = (x: number) => (isMirrored ? pageWidth - x : x)
  // Words keep the font and the height of their item, which identify headings and lines.
  const words = textItems.flatMap(({ words: boxes = [], ...item }) =>
    boxes.map(({ text: word, x, width }) => ({ ...item, text: word, x, width })),
  )
  const lines = rowsOf(words).flatMap(({ boxes: row }) =>
    joinNeighbours(
      logicalWords(row, direction).map((box) => ({ ...box, x: placed(isMirrored ? box.x + box.width : box.x) })),
    ),
  )
  return {
    pageNumber: pageNum,
    pageWidth,
    pageHeight,
    textItems: lines.map((line) => ({ ...line, words: [] })),
    graphics: (vectorGraphics?.lines ?? []).map(({ x1, y1, x2, y2 }) => ({
      kind: 'stroke',
      ...{ x1: placed(x1), y1, x2: placed(x2), y2 },
    })),
  }
}

/** Splits a line at wide gaps, which may separate cells or columns, into pieces with their words. */
function joinNeighbours(boxes: readonly Box[]): Box[] {
  const pieces: Box[] = []
  for (const box of boxes.toSorted((one, other) => one.x - other.x)) {
    const last = pieces.at(-1)
    const gap = last === undefined ? 0 : (box.x - last.x - last.width) / box.height
    if (last === undefined || gap > widestBlank) pieces.push(box)
    else {
      const isNext = gap > narrowestBlank || (endsInLetter.test(last.text) && beginsWithLetter.test(box.text))
      const text = `${last.text}${isNext ? ' ' : ''}${box.text}`
      pieces[pieces.length - 1] = { ...last, text, width: box.x + box.width - last.x }
    }
  }
  return pieces
}
