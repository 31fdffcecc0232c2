import { createHash } from 'node:crypto'

export type PdfText = { text: string; x: number; y: number; size?: number; bold?: boolean }

export type PdfPage = {
  texts?: readonly PdfText[]
  /** Lines from point to point. */
  rules?: readonly (readonly [x1: number, y1: number, x2: number, y2: number])[]
  /** Grey pixels, one byte each, that fill the page. */
  picture?: { width: number; height: number; data: Buffer }
  /** Whether the picture is drawn by a form object (ISO 32000-1, 8.10) and not by the page. */
  isInForm?: boolean
  /** Degrees by which the page is shown turned, clockwise. */
  rotate?: 90 | 180 | 270
  link?: { url: string; rect: readonly [number, number, number, number] }
  /** A field of a form that is filled, in place of the link. */
  field?: { name: string; value: string }
}

export type PdfOptions = {
  title?: string
  /** `page` is 1-based. */
  bookmarks?: readonly { title: string; page: number; below?: readonly { title: string; page: number }[] }[]
  /** Encrypts with RC4 of 40 bits (ISO 32000-1, 7.6.3). */
  password?: string
}

type Part = string | Buffer

const hebrew = /[\u05d0-\u05ea]/
const hebrewLetters = [
  '/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /H def /CMapType 2 def',
  '1 begincodespacerange <00> <ff> endcodespacerange',
  '2 beginbfrange <20> <7e> <0020> <c0> <da> <05d0> endbfrange',
  'endcmap end end',
].join('\n')

const wholePage = 'q 595 0 0 842 0 0 cm /I Do Q'

/**
 * A PDF of A4 pages in Helvetica; y counts from the bottom, in points. Hebrew letters are what the font says that the letters of
 * Latin-1 from À on are; text with them stands as it is seen, from left to right.
 */
export function writePdf(pages: readonly PdfPage[], { title, bookmarks = [], password }: PdfOptions = {}): Buffer {
  const objects: Part[][] = []
  const add = (...parts: Part[]) => objects.push(parts)
  const pageId = (number: number) => 7 + (number - 1) * 5
  const fieldIds = pages.flatMap(({ field }, at) => (field ? [`${pageId(at + 1) + 3} 0 R`] : []))
  const outlinesId = pageId(pages.length + 1)
  const encryption = password === undefined ? undefined : new Encryption(password)
  const stream = (dictionary: string, data: Buffer): Part[] => {
    const bytes = encryption?.encrypt(objects.length + 1, data) ?? data
    return [`<< ${dictionary} /Length ${bytes.length} >>\nstream\n`, bytes, '\nendstream']
  }
  add(
    `<< /Type /Catalog /Pages 2 0 R ${bookmarks.length > 0 ? `/Outlines ${outlinesId} 0 R` : ''} /AcroForm << /Fields [${fieldIds.join(' ')}] >> >>`,
  )
  add(`<< /Type /Pages /Count ${pages.length} /Kids [${pages.map((_, at) => `${pageId(at + 1)} 0 R`).join(' ')}] >>`)
  add('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>')
  add('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>')
  add('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding /ToUnicode 6 0 R >>')
  add(...stream('', Buffer.from(hebrewLetters)))
  for (const { texts = [], rules = [], picture, isInForm, rotate, link, field } of pages) {
    const id = objects.length + 1
    add(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents ${id + 1} 0 R ${link || field ? `/Annots [${id + 3} 0 R]` : ''} ${rotate === undefined ? '' : `/Rotate ${rotate}`}`,
      ` /Resources << /Font << /F1 3 0 R /F2 4 0 R /F3 5 0 R >> ${picture ? `/XObject << /I ${id + (isInForm ? 4 : 2)} 0 R >>` : ''} >> >>`,
    )
    const drawn = [
      ...(picture ? [isInForm ? '/I Do' : wholePage] : []),
      ...rules.map(([x1, y1, x2, y2]) => `${x1} ${y1} m ${x2} ${y2} l S`),
      ...texts.map(
        ({ text, x, y, size = 11, bold }) =>
          `BT /F${hebrew.test(text) ? 3 : bold ? 2 : 1} ${size} Tf ${x} ${y} Td ${literal(asLatin(text))} Tj ET`,
      ),
    ]
    add(...stream('', Buffer.from(drawn.join('\n'), 'latin1')))
    const { width, height, data } = picture ?? { width: 1, height: 1, data: Buffer.of(255) }
    const kind = `/Type /XObject /Subtype /Image /Width ${width} /Height ${height} /ColorSpace /DeviceGray /BitsPerComponent 8`
    add(...stream(kind, data))
    add(
      link
        ? `<< /Type /Annot /Subtype /Link /Rect [${link.rect.join(' ')}] /A << /S /URI /URI ${literal(link.url)} >> >>`
        : field
          ? `<< /Type /Annot /Subtype /Widget /FT /Tx /T ${literal(field.name)} /V ${literal(field.value)} /Rect [60 600 300 620] /P ${id} 0 R >>`
          : 'null',
    )
    const form = `/Type /XObject /Subtype /Form /BBox [0 0 595 842] /Resources << /XObject << /I ${id + 2} 0 R >> >>`
    add(...stream(form, Buffer.from(wholePage)))
  }
  addOutline(objects, bookmarks, pageId)
  add(title === undefined ? 'null' : `<< /Title ${literal(title)} >>`)
  const infoId = objects.length
  if (encryption) add(encryption.dictionary())
  const trailer = `/Info ${infoId} 0 R ${encryption ? `/Encrypt ${objects.length} 0 R /ID [${encryption.id()}]` : ''}`
  return assemble(objects, trailer)
}

function addOutline(
  objects: Part[][],
  bookmarks: NonNullable<PdfOptions['bookmarks']>,
  pageId: (page: number) => number,
) {
  const root = objects.length + 1
  const ids: number[] = []
  let id = root + 1
  for (const { below = [] } of bookmarks) {
    ids.push(id)
    id += 1 + below.length
  }
  objects.push([`<< /Type /Outlines /First ${root + 1} 0 R /Last ${ids.at(-1) ?? root} 0 R >>`])
  bookmarks.forEach(({ title, page, below = [] }, at) => {
    const id = ids[at] ?? 0
    const next = ids[at + 1] === undefined ? '' : `/Next ${ids[at + 1]} 0 R`
    const kids = below.length > 0 ? `/First ${id + 1} 0 R /Last ${id + below.length} 0 R /Count ${below.length}` : ''
    objects.push([
      `<< /Title ${literal(title)} /Parent ${root} 0 R /Dest [${pageId(page)} 0 R /Fit] ${next} ${kids} >>`,
    ])
    below.forEach((child, nth) => {
      const after = nth + 1 < below.length ? `/Next ${id + nth + 2} 0 R` : ''
      objects.push([
        `<< /Title ${literal(child.title)} /Parent ${id} 0 R /Dest [${pageId(child.page)} 0 R /Fit] ${after} >>`,
      ])
    })
  })
}

function assemble(objects: readonly (readonly Part[])[], trailer: string): Buffer {
  const parts: Buffer[] = []
  let length = 0
  const write = (part: Part) => {
    const bytes = typeof part === 'string' ? Buffer.from(part, 'latin1') : part
    parts.push(bytes)
    length += bytes.length
  }
  write('%PDF-1.4\n')
  const entries = objects.map((object, at) => {
    const entry = `${String(length).padStart(10, '0')} 00000 n \n`
    for (const part of [`${at + 1} 0 obj\n`, ...object, '\nendobj\n']) write(part)
    return entry
  })
  const table = length
  write(`xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${entries.join('')}`)
  write(`trailer\n<< /Size ${objects.length + 1} /Root 1 0 R ${trailer} >>\nstartxref\n${table}\n%%EOF\n`)
  return Buffer.concat(parts)
}

function asLatin(text: string): string {
  return text.replace(new RegExp(hebrew, 'g'), (letter) => String.fromCharCode(letter.charCodeAt(0) - 0x5d0 + 0xc0))
}

function literal(text: string): string {
  return `(${text.replace(/[\\()]/g, '\\$&')})`
}

/** The standard security handler, revision 2. Strings stay as they are: only streams are read by these tests. */
class Encryption {
  readonly #owner: Buffer
  readonly #key: Buffer
  readonly #id = Buffer.from('0123456789abcdef')

  constructor(password: string) {
    this.#owner = rc4(md5(padded(password)).subarray(0, 5), padded(password))
    const permissions = Buffer.alloc(4)
    permissions.writeInt32LE(-4)
    this.#key = md5(padded(password), this.#owner, permissions, this.#id).subarray(0, 5)
  }

  encrypt(object: number, data: Buffer): Buffer {
    return rc4(md5(this.#key, Buffer.of(object & 255, object >> 8, 0, 0, 0)).subarray(0, 10), data)
  }

  dictionary(): string {
    const user = rc4(this.#key, padded(''))
    return `<< /Filter /Standard /V 1 /R 2 /P -4 /O <${this.#owner.toString('hex')}> /U <${user.toString('hex')}> >>`
  }

  id(): string {
    const hex = `<${this.#id.toString('hex')}>`
    return `${hex} ${hex}`
  }
}

function padded(password: string): Buffer {
  const padding = Buffer.from('28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a', 'hex')
  return Buffer.concat([Buffer.from(password, 'latin1'), padding]).subarray(0, 32)
}

function md5(...parts: readonly Buffer[]): Buffer {
  const hash = createHash('md5')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

function rc4(key: Buffer, data: Buffer): Buffer {
  const state = Uint8Array.from({ length: 256 }, (_, at) => at)
  const at = (index: number) => state[index & 255] ?? 0
  const swap = (a: number, b: number) => {
    const kept = at(a)
    state[a & 255] = at(b)
    state[b & 255] = kept
  }
  for (let i = 0, j = 0; i < 256; i++) {
    j = (j + at(i) + (key[i % key.length] ?? 0)) & 255
    swap(i, j)
  }
  let i = 0
  let j = 0
  const encrypted = data.map((byte) => {
    i = (i + 1) & 255
    j = (j + at(i)) & 255
    swap(i, j)
    return byte ^ at(at(i) + at(j))
  })
  return Buffer.from(encrypted)
}
