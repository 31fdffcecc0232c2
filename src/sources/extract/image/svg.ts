import { readFile } from 'node:fs/promises'
import { SaxesParser } from 'saxes'
import { ExtractionError, type Extractor } from '../../extracted.ts'
import { decodeDocument } from '../decode-text.ts'
import { collapse } from '../html/hast.ts'
import { escapeText } from '../markdown/escape-markdown.ts'

const textElements = new Set(['title', 'desc', 'text'])
const ignored = new Set(['style', 'script', 'metadata', 'foreignObject'])
/** Error for an entity of the document type. These are not read, so a text that uses them has a gap. */
const undefinedEntity = /undefined entity/
const entityReference = /&[\w.:-]+;/g

/** Returns the title, descriptions and texts of an SVG in their order. Draws and loads nothing. */
export const extractSvg: Extractor = async ({ file }) => {
  const { text: xml, doubts } = decodeDocument(await readFile(file))
  const { root, texts, usesEntities } = readTexts(xml)
  if (root !== 'svg') throw new ExtractionError('wrong-type', 'The document is not an SVG image.')
  const title = texts.find(({ element }) => element === 'title')?.text
  return {
    title,
    markdown: texts.map(({ text }) => escapeText(text)).join('\n\n'),
    anchors: [],
    warnings: usesEntities ? ['Text behind entities of the document type was left out.'] : [],
    doubts,
    shown: undefined,
  }
}

type FoundText = { element: string; text: string }

function readTexts(xml: string): { root: string | undefined; texts: FoundText[]; usesEntities: boolean } {
  const texts: FoundText[] = []
  const open: string[] = []
  let root: string | undefined
  let current: FoundText | undefined
  let usesEntities = false
  let ignoredDepth = 0
  const parser = new SaxesParser({ fragment: false })
  parser.on('error', (cause) => {
    if (!undefinedEntity.test(cause.message)) throw corrupt(cause)
    usesEntities = true
  })
  parser.on('opentag', ({ name }) => {
    const element = name.replace(/^.*:/, '')
    root ??= element
    open.push(element)
    if (ignored.has(element)) ignoredDepth++
    else if (!current && textElements.has(element)) current = { element, text: '' }
  })
  parser.on('text', (text) => {
    if (current && ignoredDepth === 0) current.text += text
  })
  parser.on('closetag', () => {
    const element = open.pop() ?? ''
    if (ignored.has(element)) ignoredDepth--
    // A text element is often split into positioned words.
    if (current && element === 'tspan') current.text += ' '
    if (!current || element !== current.element) return
    const text = collapse(usesEntities ? current.text.replace(entityReference, '') : current.text)
    if (text !== '') texts.push({ element, text })
    current = undefined
  })
  parser.write(xml).close()
  return { root, texts, usesEntities }
}

function corrupt(cause: Error): ExtractionError {
  return new ExtractionError('corrupt', 'The document is damaged: it is not well-formed XML.', { cause })
}
