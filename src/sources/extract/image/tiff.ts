import { readFile } from 'node:fs/promises'
import UTIF, { type IFD } from 'utif2'
import { type Anchor, ExtractionError, type Extractor } from '../../extracted.ts'
import { timeBudget } from '../pdf/pdf-budget.ts'
import { pageList } from '../pdf/pdf-page-list.ts'
import { assertPixels } from './image.ts'
import { greyPdf, imagePageSide } from './image-pdf.ts'
import { greyOf } from './image-pixels.ts'
import { recognisedIn, withOcr } from './ocr.ts'

const maxPages = 2_000

/** The text in the pictures of a TIFF, each of which is a page, found by optical character recognition without any network. */
export const extractTiff: Extractor = async ({ file, ocrLanguages }, onProgress) => {
  const isSpent = timeBudget()
  const bytes = await readFile(file)
  const pages = picturesOf(bytes)
  const lines: string[] = []
  const anchors: Anchor[] = []
  const wordless: number[] = []
  const unread: number[] = []
  let words = 0
  let sum = 0
  const { languages, doubts } = await withOcr(ocrLanguages, async (ocr) => {
    for (const [at, page] of pages.entries()) {
      onProgress(at, pages.length)
      if (isSpent()) {
        unread.push(at + 1)
        continue
      }
      const source = greyPdf(pixelsOf(bytes, page))
      const read = await ocr.page({ source, number: 1, longSide: imagePageSide, mayBeTurned: true })
      if (read === undefined || !/[\p{L}\p{N}]{2}/u.test(read.markdown)) wordless.push(at + 1)
      else {
        anchors.push({ line: lines.length + 1, page: at + 1 })
        lines.push(...read.markdown.split('\n'), '')
        words += read.words
        sum += read.words * read.confidence
      }
    }
    return ocr
  })
  if (words === 0) throw new ExtractionError('empty', 'No text was found in the picture.')
  return {
    title: undefined,
    markdown: lines.join('\n').trimEnd(),
    anchors,
    recognised: recognisedIn(ocrLanguages, { words, confidence: sum / words }),
    doubts,
    warnings: [
      `The text was recognised in pictures, as ${languages}: letters may be wrong, and the layout is simplified.`,
      ...(unread.length > 0
        ? [`Not recognised, since that would take too long: split the file: ${pageList(unread)}.`]
        : []),
      ...(wordless.length > 0 ? [`Nothing was recognised on ${pageList(wordless)}.`] : []),
    ],
  }
}

/** @throws {ExtractionError} `wrong-type`, `corrupt`, `too-large` */
function picturesOf(bytes: Buffer): IFD[] {
  if (!/^(?:II\*\0|MM\0\*)/.test(bytes.toString('latin1', 0, 4))) {
    throw new ExtractionError('wrong-type', 'The file is not a TIFF picture.')
  }
  const pages = decoded(() => UTIF.decode(bytes)).filter((page) => sideOf(page, 't256') > 0 && sideOf(page, 't257') > 0)
  if (pages.length === 0) throw new ExtractionError('corrupt', 'The picture is damaged and could not be read.')
  if (pages.length > maxPages) throw new ExtractionError('too-large', `The file has more than ${maxPages} pictures.`)
  for (const page of pages) assertPixels(sideOf(page, 't256'), sideOf(page, 't257'))
  return pages
}

/** Width (`t256`) or height (`t257`), in pixels. */
function sideOf(page: IFD, tag: string): number {
  const value = page[tag]
  return typeof value === 'object' && typeof value[0] === 'number' ? value[0] : 0
}

function pixelsOf(bytes: Buffer, page: IFD) {
  return decoded(() => {
    UTIF.decodeImage(bytes, page)
    const { width, height } = page
    const pixels = greyOf({ width, height, data: UTIF.toRGBA8(page) })
    // Of a page the pixels are not needed again.
    page.data = new Uint8Array()
    return pixels
  })
}

function decoded<Result>(decode: () => Result): Result {
  try {
    return decode()
  } catch (cause) {
    throw new ExtractionError('corrupt', 'The picture is damaged and could not be read.', { cause })
  }
}
