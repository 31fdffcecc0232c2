import type { ImageHeader } from './image-header.ts'

/** Length of the page's long side in points. Only its proportion to the requested pixels matters. */
export const imagePageSide = 576

const colorSpaces = new Map([
  [1, '/DeviceGray'],
  [3, '/DeviceRGB'],
  [4, '/DeviceCMYK'],
])

/** Returns a PDF of one page that a JPEG fills, upright. The JPEG's bytes are copied: the renderer decodes them. */
export function jpegPdf(header: ImageHeader, bytes: Buffer): Buffer {
  const { width, height, orientation, channels } = header
  const colors = colorSpaces.get(channels) ?? '/DeviceRGB'
  return imagePdf({ width, height, orientation, format: `/ColorSpace ${colors} /Filter /DCTDecode`, data: bytes })
}

/** Grey pixels, one byte each, row by row, on white where the picture is transparent. An animation has only its first frame. */
export type GreyPixels = { width: number; height: number; data: Buffer }

export function greyPdf({ width, height, data }: GreyPixels): Buffer {
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
