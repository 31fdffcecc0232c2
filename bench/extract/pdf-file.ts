import type { Block } from './prose.ts'

type Line = { text: string; size: number; y: number }
type Picture = { width: number; height: number; grey: Buffer }

const [width, height, margin] = [595, 842, 72]
/** Approximate characters per line of Helvetica at 10 points. */
const charactersPerLine = 88
const leading = 14

/** Pages of A4, at most `max` of them; a heading has larger type. */
export function layOut(blocks: readonly Block[], max: number): Line[][] {
  const pages: Line[][] = []
  let page: Line[] = []
  let y = 0
  const put = (text: string, size: number) => {
    if (y < margin) {
      page = []
      pages.push(page)
      y = height - margin
    }
    page.push({ text, size, y })
    y -= leading
  }
  for (const block of blocks) {
    if (pages.length > max) break
    if (block.kind === 'heading') put(block.text, 14)
    else for (const text of linesOf(block)) put(text, 10)
    y -= leading
  }
  return pages.slice(0, max)
}

/** A PDF 1.4 of such pages, in Helvetica. */
export function textPdf(pages: readonly (readonly Line[])[]): Buffer {
  const contents = pages.map((lines) =>
    lines.map(({ text, size, y }) => `BT /F ${size} Tf ${margin} ${y} Td (${escaped(text)}) Tj ET`).join('\n'),
  )
  const font = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>'
  return assemble(font, '/Font << /F 3 0 R >>', contents)
}

/** A page that is a picture. */
export function scannedPdf({ width: columns, height: rows, grey }: Picture): Buffer {
  const type = `/Type /XObject /Subtype /Image /Width ${columns} /Height ${rows} /ColorSpace /DeviceGray`
  const image = `<< ${type} /BitsPerComponent 8 /Length ${grey.length} >>\nstream\n${grey.toString('latin1')}\nendstream`
  return assemble(image, '/XObject << /I 3 0 R >>', [`${width} 0 0 ${height} 0 0 cm /I Do`])
}

/** @param shared object 3, which the resources of every page name */
function assemble(shared: string, resources: string, contents: readonly string[]): Buffer {
  const idOf = (page: number) => 4 + page * 2
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Count ${contents.length} /Kids [${contents.map((_, at) => `${idOf(at)} 0 R`).join(' ')}] >>`,
    shared,
    ...contents.flatMap((content, at) => [
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${width} ${height}] /Contents ${idOf(at) + 1} 0 R /Resources << ${resources} >> >>`,
      `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    ]),
  ]
  const parts = ['%PDF-1.4\n']
  let length = parts.join('').length
  const entries = objects.map((object, at) => {
    const part = `${at + 1} 0 obj\n${object}\nendobj\n`
    const entry = `${String(length).padStart(10, '0')} 00000 n \n`
    parts.push(part)
    length += part.length
    return entry
  })
  const trailer = `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${length}\n%%EOF\n`
  parts.push(`xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${entries.join('')}${trailer}`)
  return Buffer.from(parts.join(''), 'latin1')
}

function linesOf(block: Exclude<Block, { kind: 'heading' }>): string[] {
  if (block.kind === 'paragraph') return wrapped(block.text)
  if (block.kind === 'list') return block.items.flatMap((item) => wrapped(`\x95 ${item}`))
  return block.rows.map((row) => row.join('    '))
}

function wrapped(text: string): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + word.length >= charactersPerLine) {
      lines.push(line)
      line = ''
    }
    line += line === '' ? word : ` ${word}`
  }
  return [...lines, line]
}

function escaped(text: string): string {
  return text.replace(/[\\()]/g, '\\$&')
}
