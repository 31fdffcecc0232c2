import { randomBytes } from 'node:crypto'
import { strToU8, zipSync } from 'fflate'
import type { Block } from './prose.ts'

const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const packages = 'http://schemas.openxmlformats.org/package/2006'
const word = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
const drawing = `xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:r="${office}"`

type Link = { id: string; type: string; target: string }

/** @param pictures bytes that a picture takes, which nothing compresses */
export function docxFile(blocks: readonly Block[], pictures = 0): Uint8Array {
  const body = blocks.map(wordBlock).join('')
  const style = (level: number) =>
    `<w:style w:type="paragraph" w:styleId="Heading${level}"><w:name w:val="heading ${level}"/></w:style>`
  const parts = {
    'word/document.xml': `<w:document ${word}><w:body>${body}</w:body></w:document>`,
    'word/_rels/document.xml.rels': relationships([{ id: 'rId1', type: 'styles', target: 'styles.xml' }]),
    'word/styles.xml': `<w:styles ${word}>${style(1)}${style(2)}</w:styles>`,
  }
  return officeFile('word/document.xml', parts, { 'word/media/image1.jpeg': pictures })
}

/** A slide for each heading, with what follows it in one shape, and in its notes. */
export function pptxFile(blocks: readonly Block[], pictures = 0): Uint8Array {
  const slides = slidesOf(blocks)
  const links = slides.map((_, at) => ({ id: `rId${at + 1}`, type: 'slide', target: `slides/slide${at + 1}.xml` }))
  const list = slides.map((_, at) => `<p:sldId id="${256 + at}" r:id="rId${at + 1}"/>`).join('')
  const parts: Record<string, string> = {
    'ppt/presentation.xml': `<p:presentation ${drawing}><p:sldIdLst>${list}</p:sldIdLst></p:presentation>`,
    'ppt/_rels/presentation.xml.rels': relationships(links),
  }
  slides.forEach(({ title, body, notes }, at) => {
    const shapes = `${shape([title], 'title')}${shape(body, 'body')}`
    const notesLink = { id: 'rId1', type: 'notesSlide', target: `../notesSlides/notesSlide${at + 1}.xml` }
    parts[`ppt/slides/slide${at + 1}.xml`] = `<p:sld ${drawing}>${tree(shapes)}</p:sld>`
    parts[`ppt/slides/_rels/slide${at + 1}.xml.rels`] = relationships([notesLink])
    parts[`ppt/notesSlides/notesSlide${at + 1}.xml`] = `<p:notes ${drawing}>${tree(shape(notes, 'body'))}</p:notes>`
  })
  return officeFile('ppt/presentation.xml', parts, { 'ppt/media/image1.jpeg': pictures })
}

/** One sheet of at most six columns; texts are shared strings, as Excel writes them. */
export function xlsxFile(rows: Iterable<readonly (string | number)[]>): Uint8Array {
  const strings = new Map<string, number>()
  const cell = (value: string | number, place: string) => {
    if (typeof value === 'number') return `<c r="${place}"><v>${value}</v></c>`
    const index = strings.get(value) ?? strings.size
    strings.set(value, index)
    return `<c r="${place}" t="s"><v>${index}</v></c>`
  }
  const rowOf = (values: readonly (string | number)[], row: number) =>
    `<row r="${row}">${values.map((value, at) => cell(value, `${'ABCDEF'[at]}${row}`)).join('')}</row>`
  const data = Array.from(rows, (values, at) => rowOf(values, at + 1)).join('')
  const links = ['worksheet', 'sharedStrings'].map((type) => ({ id: type, type, target: `${type}.xml` }))
  const sheet = '<sheet name="Data" sheetId="1" r:id="worksheet"/>'
  return officeFile('xl/workbook.xml', {
    'xl/workbook.xml': `<workbook xmlns:r="${office}"><sheets>${sheet}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': relationships(links),
    'xl/worksheet.xml': `<worksheet><sheetData>${data}</sheetData></worksheet>`,
    'xl/sharedStrings.xml': `<sst>${[...strings.keys()].map((text) => `<si><t>${text}</t></si>`).join('')}</sst>`,
  })
}

function officeFile(main: string, parts: Record<string, string>, media: Record<string, number> = {}): Uint8Array {
  const texts = {
    '[Content_Types].xml': `<Types xmlns="${packages}/content-types"><Default Extension="xml" ContentType="application/xml"/></Types>`,
    '_rels/.rels': relationships([{ id: 'rId1', type: 'officeDocument', target: main }]),
    ...parts,
  }
  const entries = Object.entries(texts).map(([name, xml]) => [name, strToU8(xml)] as const)
  const pictures = Object.entries(media).map(([name, size]) => [name, randomBytes(size)] as const)
  return zipSync(Object.fromEntries([...entries, ...pictures]))
}

function relationships(links: readonly Link[]): string {
  const items = links.map(
    ({ id, type, target }) => `<Relationship Id="${id}" Type="${office}/${type}" Target="${target}"/>`,
  )
  return `<Relationships xmlns="${packages}/relationships">${items.join('')}</Relationships>`
}

function wordBlock(block: Block): string {
  if (block.kind === 'heading') return paragraph(block.text, '<w:pStyle w:val="Heading1"/>')
  if (block.kind === 'paragraph') return paragraph(block.text)
  if (block.kind === 'list') return block.items.map((item) => paragraph(item)).join('')
  const rows = block.rows.map((row) => `<w:tr>${row.map((cell) => `<w:tc>${paragraph(cell)}</w:tc>`).join('')}</w:tr>`)
  return `<w:tbl>${rows.join('')}</w:tbl>`
}

/** A run for each sentence, as editing leaves them. */
function paragraph(text: string, properties = ''): string {
  const runs = text.split(/(?<=\. )/).map((run) => `<w:r><w:t xml:space="preserve">${run}</w:t></w:r>`)
  return `<w:p><w:pPr>${properties}</w:pPr>${runs.join('')}</w:p>`
}

function slidesOf(blocks: readonly Block[]): { title: string; body: string[]; notes: string[] }[] {
  const slides: { title: string; body: string[]; notes: string[] }[] = []
  for (const block of blocks) {
    if (block.kind === 'heading') slides.push({ title: block.text, body: [], notes: [] })
    else if (block.kind === 'paragraph') slides.at(-1)?.notes.push(block.text)
    else slides.at(-1)?.body.push(...(block.kind === 'list' ? block.items : block.rows.map((row) => row.join(' '))))
  }
  return slides
}

function tree(shapes: string): string {
  return `<p:cSld><p:spTree>${shapes}</p:spTree></p:cSld>`
}

function shape(lines: readonly string[], placeholder: string): string {
  const paragraphs = lines.map((line) => `<a:p><a:r><a:t>${line}</a:t></a:r></a:p>`).join('')
  return `<p:sp><p:nvSpPr><p:cNvPr id="1" name="x"/><p:nvPr><p:ph type="${placeholder}"/></p:nvPr></p:nvSpPr><p:txBody>${paragraphs}</p:txBody></p:sp>`
}
