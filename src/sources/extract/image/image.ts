import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import decodeWebp, { init as initWebp } from '@jsquash/webp/decode.js'
import { GifReader } from 'omggif'
import { PNG } from 'pngjs'
import { ExtractionError, type Extractor } from '../../extracted.ts'
import { type ImageHeader, imageHeader } from './image-header.ts'
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

/** Length of the page's long side in points. Only its proportion to the requested pixels matters. */
const imagePageSide = 576

const colorSpaces = new Map([
  [1, '/DeviceGray'],
  [3, '/DeviceRGB'],
  [4, '/DeviceCMYK'],
])

/** Returns a PDF of one page that a JPEG fills, upright. The JPEG's bytes are copied: the renderer decodes them. */
function jpegPdf(header: ImageHeader, bytes: Buffer): Buffer {
  const { width, height, orientation, channels } = header
  const colors = colorSpaces.get(channels) ?? '/DeviceRGB'
  return imagePdf({ width, height, orientation, format: `/ColorSpace ${colors} /Filter /DCTDecode`, data: bytes })
}

/** Grey pixels, one byte each, row by row, on white where the picture is transparent. An animation has only its first frame. */
type GreyPixels = { width: number; height: number; data: Buffer }

function greyPdf({ width, height, data }: GreyPixels): Buffer {
  return imagePdf({ width, height, orientation: 1, format: '/ColorSpace /DeviceGray', data })
}

type Picture = { width: number; height: number; orientation: number; format: string; data: Buffer }

function imagePdf({ width, height, orientation, format, data }: Picture): Buffer {
  const scale = imagePageSide / Math.max(width, height)
  const [across, down] = orientation >= 5 ? [height * scale, width * scale] : [width * scale, height * scale]
  const paint = `q ${placement(orientation, across, down).join(' ')} cm /I Do Q`
  return writePdf([
    ['<< /Type /Catalog /Pages 2 0 R >>'],
    ['<< /Type /Pages /Kids [3 0 R] /Count 1 >>'],
    [
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${across} ${down}] /Contents 4 0 R`,
      ' /Resources << /XObject << /I 5 0 R >> >> >>',
    ],
    [`<< /Length ${paint.length} >>\nstream\n${paint}\nendstream`],
    [
      `<< /Type /XObject /Subtype /Image /Width ${width} /Height ${height} /BitsPerComponent 8 ${format}`,
      ` /Length ${data.length} >>\nstream\n`,
      data,
      '\nendstream',
    ],
  ])
}

/** Returns the matrix that places the unit square of a picture on a page of that size, turned by its EXIF orientation. */
function placement(orientation: number, x: number, y: number): number[] {
  const matrices = [
    [x, 0, 0, y, 0, 0],
    [-x, 0, 0, y, x, 0],
    [-x, 0, 0, -y, x, y],
    [x, 0, 0, -y, 0, y],
    [0, -y, -x, 0, x, y],
    [0, -y, x, 0, 0, y],
    [0, y, x, 0, 0, 0],
    [0, y, -x, 0, x, 0],
  ]
  return matrices[orientation - 1] ?? [x, 0, 0, y, 0, 0]
}

/** Writes a PDF. @param objects numbered from 1, which is the catalog */
function writePdf(objects: readonly (readonly (string | Buffer)[])[]): Buffer {
  const parts: Buffer[] = []
  let length = 0
  const add = (part: string | Buffer) => {
    const bytes = typeof part === 'string' ? Buffer.from(part, 'latin1') : part
    parts.push(bytes)
    length += bytes.length
  }
  add('%PDF-1.7\n')
  const offsets = objects.map((object, at) => {
    const offset = length
    for (const part of [`${at + 1} 0 obj\n`, ...object, '\nendobj\n']) add(part)
    return `${String(offset).padStart(10, '0')} 00000 n \n`
  })
  const table = length
  const size = objects.length + 1
  add(`xref\n0 ${size}\n0000000000 65535 f \n${offsets.join('')}`)
  add(`trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${table}\n%%EOF\n`)
  return Buffer.concat(parts)
}
