import { strToU8, zipSync } from 'fflate'

const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const packages = 'http://schemas.openxmlformats.org/package/2006'

export type Link = { id: string; type: string; target: string; external?: true }

/** An Office Open XML document of these parts; `main` is the one that all hangs on. */
export function officeDocument(main: string, parts: Record<string, string>, title?: string): Uint8Array {
  const properties = `<cp:coreProperties xmlns:cp="${packages}/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>${title}</dc:title></cp:coreProperties>`
  const all: Record<string, string> = {
    '[Content_Types].xml': `<Types xmlns="${packages}/content-types"><Default Extension="xml" ContentType="application/xml"/></Types>`,
    '_rels/.rels': relationships([
      { id: 'rId1', type: 'officeDocument', target: main },
      ...(title === undefined ? [] : [{ id: 'rId2', type: 'core-properties', target: 'docProps/core.xml' }]),
    ]),
    ...(title === undefined ? {} : { 'docProps/core.xml': properties }),
    ...parts,
  }
  return zipSync(Object.fromEntries(Object.entries(all).map(([name, xml]) => [name, strToU8(xml)])))
}

function relationships(links: readonly Link[]): string {
  const items = links.map(
    ({ id, type, target, external }) =>
      `<Relationship Id="${id}" Type="${office}/${type}" Target="${target}"${external ? ' TargetMode="External"' : ''}/>`,
  )
  return `<Relationships xmlns="${packages}/relationships">${items.join('')}</Relationships>`
}

const word = `xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:r="${office}" xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"`

/** A text document; `parts` are footnotes, endnotes, numbering or styles, without their root element. */
export function docx(
  body: string,
  parts: Record<string, string> = {},
  options: { title?: string; links?: Link[] } = {},
) {
  const links = Object.keys(parts).map((type) => ({ id: `rId-${type}`, type, target: `${type}.xml` }))
  return officeDocument(
    'word/document.xml',
    {
      'word/document.xml': `<w:document ${word}><w:body>${body}</w:body></w:document>`,
      'word/_rels/document.xml.rels': relationships([...links, ...(options.links ?? [])]),
      ...Object.fromEntries(
        Object.entries(parts).map(([type, xml]) => [`word/${type}.xml`, `<w:${type} ${word}>${xml}</w:${type}>`]),
      ),
    },
    options.title,
  )
}

/** A paragraph of a text document. */
export function p(content: string, properties = ''): string {
  const run = content.startsWith('<') ? content : `<w:r><w:t xml:space="preserve">${content}</w:t></w:r>`
  return `<w:p>${properties === '' ? '' : `<w:pPr>${properties}</w:pPr>`}${run}</w:p>`
}

const drawing = `xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:r="${office}" xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"`

export type SlideParts = {
  shapes: string
  hidden?: true
  notes?: string
  links?: Link[]
  parts?: Record<string, string>
}

/** A presentation; the file names of its slides run against their order. */
export function pptx(slides: readonly SlideParts[], title?: string): Uint8Array {
  const fileOf = (at: number) => slides.length - at
  const parts: Record<string, string> = {
    'ppt/presentation.xml': `<p:presentation ${drawing}><p:sldIdLst>${slides.map((_, at) => `<p:sldId id="${256 + at}" r:id="rId${at}"/>`).join('')}</p:sldIdLst></p:presentation>`,
    'ppt/_rels/presentation.xml.rels': relationships(
      slides.map((_, at) => ({ id: `rId${at}`, type: 'slide', target: `slides/slide${fileOf(at)}.xml` })),
    ),
  }
  for (const [at, { shapes, hidden, notes, links = [], parts: own = {} }] of slides.entries()) {
    const name = `slide${fileOf(at)}.xml`
    parts[`ppt/slides/${name}`] =
      `<p:sld ${drawing}${hidden ? ' show="0"' : ''}><p:cSld><p:spTree>${shapes}</p:spTree></p:cSld></p:sld>`
    const noteLink = { id: 'rIdNotes', type: 'notesSlide', target: `../notesSlides/notes${fileOf(at)}.xml` }
    parts[`ppt/slides/_rels/${name}.rels`] = relationships([...links, ...(notes === undefined ? [] : [noteLink])])
    if (notes !== undefined) {
      parts[`ppt/notesSlides/notes${fileOf(at)}.xml`] =
        `<p:notes ${drawing}><p:cSld><p:spTree>${shape(notes, 'body')}${shape('7', 'sldNum')}</p:spTree></p:cSld></p:notes>`
    }
    for (const [part, xml] of Object.entries(own)) parts[`ppt/${part}`] = xml.replace('XMLNS', drawing)
  }
  return officeDocument('ppt/presentation.xml', parts, title)
}

/** A shape of a slide: its text has paragraphs by line, and a level by the spaces before them. */
export function shape(text: string, placeholder?: string): string {
  const type = placeholder === undefined ? '' : `<p:ph${placeholder === '' ? '' : ` type="${placeholder}"`}/>`
  const paragraphs = text.split('\n').map((line) => {
    const level = line.length - line.trimStart().length
    return `<a:p><a:pPr lvl="${level}"/><a:r><a:t>${line.trim()}</a:t></a:r></a:p>`
  })
  return `<p:sp><p:nvSpPr><p:cNvPr id="1" name="x"/><p:nvPr>${type}</p:nvPr></p:nvSpPr><p:txBody>${paragraphs.join('')}</p:txBody></p:sp>`
}

export type SheetParts = { name: string; xml: string; state?: string }

/** A workbook; `xml` is what a sheet holds, cells of style 1 are dates, of 2 percent. */
export function xlsx(
  sheets: readonly SheetParts[],
  options: { strings?: string; is1904?: true; title?: string; formats?: readonly string[] } = {},
): Uint8Array {
  const formats = (options.formats ?? []).map((code) => code.replaceAll('&', '&amp;').replaceAll('"', '&quot;'))
  const sheetElements = sheets.map(
    ({ name, state }, at) =>
      `<sheet name="${name}" sheetId="${at + 1}"${state ? ` state="${state}"` : ''} r:id="rId${at}"/>`,
  )
  return officeDocument(
    'xl/workbook.xml',
    {
      'xl/workbook.xml': `<workbook xmlns:r="${office}">${options.is1904 ? '<workbookPr date1904="1"/>' : ''}<sheets>${sheetElements.join('')}</sheets></workbook>`,
      'xl/_rels/workbook.xml.rels': relationships([
        ...sheets.map((_, at) => ({ id: `rId${at}`, type: 'worksheet', target: `worksheets/s${at}.xml` })),
        { id: 'rIdStyles', type: 'styles', target: '/xl/styles.xml' },
        { id: 'rIdStrings', type: 'sharedStrings', target: 'sharedStrings.xml' },
      ]),
      'xl/styles.xml':
        `<styleSheet><numFmts><numFmt numFmtId="164" formatCode="dd\\/mm\\/yyyy"/>${formats.map((code, at) => `<numFmt numFmtId="${165 + at}" formatCode="${code}"/>`).join('')}</numFmts>` +
        `<cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="10"/>${formats.map((_, at) => `<xf numFmtId="${165 + at}"/>`).join('')}</cellXfs></styleSheet>`,
      'xl/sharedStrings.xml': `<sst>${options.strings ?? ''}</sst>`,
      ...Object.fromEntries(sheets.map(({ xml }, at) => [`xl/worksheets/s${at}.xml`, `<worksheet>${xml}</worksheet>`])),
    },
    options.title,
  )
}

/** Rows of a sheet, from the first on. */
export function rows(values: readonly (readonly (string | number | undefined)[])[]): string {
  const cell = (value: string | number | undefined) => {
    if (value === undefined) return '<c/>'
    return typeof value === 'number' ? `<c><v>${value}</v></c>` : `<c t="inlineStr"><is><t>${value}</t></is></c>`
  }
  return `<sheetData>${values.map((row) => `<row>${row.map(cell).join('')}</row>`).join('')}</sheetData>`
}
