import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import Papa from 'papaparse'
import rehypeParse from 'rehype-parse'
import { unified } from 'unified'
import { decodeText } from '../../src/sources/extract/decode-text.ts'
import { OfficePackage } from '../../src/sources/extract/office/office-package.ts'
import { plainPages } from '../../src/sources/extract/pdf/pdf-outline.ts'
import { scanXml } from '../../src/sources/extract/xml.ts'
import { plainMarkdown } from './plain-markdown.ts'

/** Reference text for a document, and the program that made it. */
export type Reference = {
  text: string
  origin: string
  /** It lacks some of what a document shows, so that it tells of recall alone. */
  isPartial?: true
}

type Unit = 'pages' | 'slides' | 'rows' | 'KB'
export type Extent = { count: number; unit: Unit }

/** Alternative reading of a document: its reference, and the amount of it. */
export type OtherReading = { reference?: Reference; extent?: Extent }

/** Programs for comparison, where the machine has them. */
const programs = new Map([
  ['pdf', { command: 'pdftotext', argsFor: (file: string) => [file, '-'] }],
  ['docx', { command: 'pandoc', argsFor: (file: string) => ['--from=docx', '--to=plain', '--wrap=none', file] }],
])
/** HTML elements that a browser does not show. */
const unseen = new Set(['script', 'style', 'template', 'noscript', 'head'])
const inline = new Set(
  'a abbr b bdi bdo cite code em font i kbd mark q s small span strong sub sup u var wbr'.split(' '),
)

/** @returns nothing where no other program can read the document either */
export async function readOtherwise(file: string, fileType: string): Promise<OtherReading> {
  const read = readers[fileType]
  if (read === undefined) return {}
  const own = await read(file).catch(() => ({}))
  const text = textByProgram(file, fileType)
  return text === undefined ? own : { ...own, reference: text }
}

function textByProgram(file: string, fileType: string): Reference | undefined {
  const program = programs.get(fileType)
  if (program === undefined) return undefined
  const { command, argsFor } = program
  const { stdout, status } = spawnSync(command, argsFor(file), { encoding: 'utf8', maxBuffer: 2 ** 28 })
  return status === 0 ? { text: joinHyphens(stdout), origin: command } : undefined
}

const readers: Record<string, (file: string) => Promise<OtherReading>> = {
  pdf: readPdf,
  docx: readDocx,
  pptx: readPptx,
  xlsx: readXlsx,
  html: readHtml,
  htm: readHtml,
  csv: readCsv,
  txt: async (file) => ({ reference: { text: decodeText(readFileSync(file)).text, origin: 'the file' } }),
  md: async (file) => ({ reference: { text: plainMarkdown(decodeText(readFileSync(file)).text), origin: 'the file' } }),
}

async function readPdf(file: string): Promise<OtherReading> {
  const pages = await plainPages(readFileSync(file), Number.POSITIVE_INFINITY)
  const text = joinHyphens(pages.join('\n'))
  const extent: Extent = { count: pages.length, unit: 'pages' }
  // A scan has no text of its own.
  return /[\p{L}\p{N}]/u.test(text) ? { extent, reference: { text, origin: 'PDF.js' } } : { extent }
}

async function readDocx(file: string): Promise<OtherReading> {
  const document = await OfficePackage.open(file, () => true)
  const main = document.main()
  const notes = partsOf(document, main, ['footnotes', 'endnotes'])
  return { reference: { text: [main, ...notes].map((name) => textOf(document.part(name))).join('\n'), origin: 'XML' } }
}

async function readPptx(file: string): Promise<OtherReading> {
  const document = await OfficePackage.open(file, () => true)
  const main = document.main()
  const targets = new Map(document.relationships(main).map(({ id, target }) => [id, target]))
  const slides: string[] = []
  const order = document.part(main)
  if (order) {
    scanXml(order, {
      open: (name, attributes) => {
        const target = name === 'sldId' ? targets.get(attributes['r:id'] ?? '') : undefined
        if (target !== undefined) slides.push(target)
      },
      text: () => undefined,
      close: () => undefined,
    })
  }
  const parts = slides.flatMap((slide) => [slide, ...partsOf(document, slide, ['notesSlide'])])
  const text = parts.map((name) => textOf(document.part(name))).join('\n')
  return { reference: { text, origin: 'XML' }, extent: { count: slides.length, unit: 'slides' } }
}

/** Texts only: numbers and dates are written otherwise than they are kept. */
async function readXlsx(file: string): Promise<OtherReading> {
  const document = await OfficePackage.open(file, () => true)
  const main = document.main()
  const texts = partsOf(document, main, ['sharedStrings']).map((name) => textOf(document.part(name), 'si'))
  const strings = texts.join('\n').split('\n')
  const cells: string[] = []
  let count = 0
  for (const sheet of partsOf(document, main, ['worksheet'])) {
    let type: string | undefined
    let value = ''
    const part = document.part(sheet)
    if (part === undefined) continue
    scanXml(part, {
      open: (name, attributes) => {
        if (name === 'row') count++
        if (name === 'c') [type, value] = [attributes.t, '']
      },
      text: (text) => {
        value += text
      },
      close: (name) => {
        if (name !== 'c') return
        if (type === 's') cells.push(strings[Number(value)] ?? '')
        if (type === 'inlineStr') cells.push(value)
      },
    })
  }
  return { reference: { text: cells.join('\n'), origin: 'XML', isPartial: true }, extent: { count, unit: 'rows' } }
}

async function readCsv(file: string): Promise<OtherReading> {
  const { data } = Papa.parse<string[]>(decodeText(readFileSync(file)).text.trim())
  const text = data.map((row) => row.join(' ')).join('\n')
  return { reference: { text, origin: 'the file' }, extent: { count: data.length, unit: 'rows' } }
}

async function readHtml(file: string): Promise<OtherReading> {
  const parts: string[] = []
  type Node = { type: string; value?: string; tagName?: string; children?: Node[] }
  const visit = ({ type, value, tagName, children = [] }: Node): void => {
    if (type === 'text') parts.push(value ?? '')
    if (tagName !== undefined && unseen.has(tagName)) return
    const isBlock = tagName !== undefined && !inline.has(tagName)
    if (isBlock) parts.push('\n')
    children.forEach(visit)
    if (isBlock) parts.push('\n')
  }
  visit(
    unified()
      .use(rehypeParse)
      .parse(decodeText(readFileSync(file)).text),
  )
  return { reference: { text: parts.join(''), origin: 'all text of the body' } }
}

function partsOf(document: OfficePackage, name: string, types: readonly string[]): string[] {
  return document.relationships(name).flatMap(({ type, target }) => (types.includes(type) ? [target] : []))
}

/** The text elements of a part, a line for each paragraph; what stands there twice for old programs counts once. */
function textOf(part: Buffer | undefined, paragraph = 'p'): string {
  const parts: string[] = []
  let isText = false
  let unread = 0
  if (part === undefined) return ''
  scanXml(part, {
    open: (name) => {
      isText = name === 't'
      if (name === 'Fallback' || name === 'rPh') unread++
      if (name === 'tab' || name === 'br') parts.push(' ')
    },
    text: (text) => {
      if (isText && unread === 0) parts.push(text.replaceAll('\n', ' '))
    },
    close: (name) => {
      isText = false
      if (name === 'Fallback' || name === 'rPh') unread--
      if (name === paragraph) parts.push('\n')
    },
  })
  return parts.join('')
}

/** Words that a line end parts. */
function joinHyphens(text: string): string {
  return text.replace(/(\p{L})[-\u00ad]\n(\p{Ll})/gu, '$1$2')
}
