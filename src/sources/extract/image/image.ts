import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import decodeWebp, { init as initWebp } from '@jsquash/webp/decode.js'
import { GifReader } from 'omggif'
import { PNG } from 'pngjs'
import type { Extractor } from '../../extracted.ts'
import { ExtractionError } from '../../extracted.ts'
import type { ImageHeader } from './image-header.ts'
import { imageHeader } from './image-header.ts'
import { type GreyPixels, greyPdf, imagePageSide, jpegPdf } from './image-pdf.ts'
import { recognisedIn, withOcr } from './ocr.ts'

const maxPixels = 50_000_000

/** Recognises the text in a picture (PNG, JPEG, GIF, WebP) by OCR, without network access. */
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

/** Checks the number of pixels. @throws {ExtractionError} `too-large` */
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

/** Red, green, blue and alpha. */
type Pixels = { width: number; height: number; data: Uint8Array | Uint8ClampedArray }

export async function greyPixels(type: ImageHeader['type'], bytes: Buffer): Promise<GreyPixels> {
  return greyOf(await pixelsOf(type, bytes))
}

function greyOf({ width, height, data }: Pixels): GreyPixels {
  const grey = Buffer.allocUnsafe(width * height)
  for (let at = 0; at < grey.length; at++) {
    const [red = 0, green = 0, blue = 0] = [data[4 * at], data[4 * at + 1], data[4 * at + 2]]
    const alpha = (data[4 * at + 3] ?? 255) / 255
    // Weights of ITU-R BT.601.
    grey[at] = 255 - alpha * (255 - (0.299 * red + 0.587 * green + 0.114 * blue))
  }
  return { width, height, data: grey }
}

async function pixelsOf(type: ImageHeader['type'], bytes: Buffer): Promise<Pixels> {
  if (type === 'webp') return webpPixels(bytes)
  return type === 'gif' ? gifPixels(bytes) : PNG.sync.read(bytes)
}

function gifPixels(bytes: Buffer): Pixels {
  const reader = new GifReader(bytes)
  const { width, height } = reader
  const data = new Uint8Array(4 * width * height)
  reader.decodeAndBlitFrameRGBA(0, data)
  return { width, height, data }
}

async function webpPixels(bytes: Buffer): Promise<Pixels> {
  const codec = import.meta.resolve('@jsquash/webp/codec/dec/webp_dec.wasm')
  // The module would `fetch` a file URL if it were not given the binary, which Node does not support.
  const options = { noInitialRun: true, wasmBinary: await readFile(fileURLToPath(codec)) }
  await initWebp(options)
  return decodeWebp(new Uint8Array(bytes).buffer)
}
