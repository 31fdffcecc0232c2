import { readFile } from 'node:fs/promises'
import type { Extractor } from '../../extracted.ts'
import { ExtractionError } from '../../extracted.ts'
import { type ImageHeader, imageHeader } from './image-header.ts'
import { greyPdf, imagePageSide, jpegPdf } from './image-pdf.ts'
import { greyPixels } from './image-pixels.ts'
import { recognisedIn, withOcr } from './ocr.ts'

const maxPixels = 50_000_000

/** The text in a picture (PNG, JPEG, GIF, WebP), found by optical character recognition without any network. */
export const extractImage: Extractor = async ({ file, ocrLanguages }) => {
  const bytes = await readFile(file)
  const header = imageHeader(bytes)
  if (header === undefined)
    throw new ExtractionError('wrong-type', 'The file is not a picture of a type that can be read.')
  assertPixels(header.width, header.height)
  const page = await pageOf(header, bytes)
  const { read, languages, doubts } = await withOcr(ocrLanguages, async (ocr) => {
    const read = await ocr.page({ source: page, number: 1, longSide: imagePageSide, mayBeTurned: true })
    return { ...ocr, read }
  })
  if (read === undefined || !/[\p{L}\p{N}]{2}/u.test(read.markdown))
    throw new ExtractionError('empty', 'No text was found in the picture.')
  return {
    title: undefined,
    markdown: read.markdown,
    recognised: recognisedIn(ocrLanguages, read),
    doubts,
    anchors: [],
    shown: undefined,
    warnings: [
      `The text was recognised in a picture, as ${languages}: letters may be wrong, and the layout is simplified.`,
    ],
  }
}

/** @throws {ExtractionError} `too-large` */
function assertPixels(width: number, height: number): void {
  if (width * height > maxPixels) {
    throw new ExtractionError('too-large', `The picture has more than ${maxPixels / 1_000_000} million pixels.`)
  }
}

async function pageOf(header: ImageHeader, bytes: Buffer): Promise<Buffer> {
  if (header.type === 'jpeg') return jpegPdf(header, bytes)
  try {
    return greyPdf(await greyPixels(header.type, bytes))
  } catch (cause) {
    throw new ExtractionError('corrupt', 'The picture is damaged and could not be read.', { cause })
  }
}
