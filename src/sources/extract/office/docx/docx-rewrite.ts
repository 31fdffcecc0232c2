import { ExtractionError } from '../../../extracted.ts'
import {
  child,
  escapeXml,
  isTrue,
  relationshipId,
  scanElements,
  type XmlAttributes,
  type XmlElement,
} from '../../xml.ts'
import type { EmbeddedContent } from './docx-embedded.ts'
import { equationText } from './docx-equation.ts'
import type { ListNumbers } from './docx-numbering.ts'
import { levelOf, type ParagraphStyles } from './docx-styles.ts'

/** Maximum number of {@link counted} elements of a part. */
const maxElements = 250_000
/** Elements that may come in millions. */
const counted = /<w:(?:p|r|tr|tc|hyperlink|br|footnote|endnote)[ >]/g

const textBegin = '<w:t xml:space="preserve">'
const onlyText = /^(?:<w:t [^>]*>[^<]*<\/w:t>)*$/
const transitional = 'http://schemas.openxmlformats.org/'
const namespaces = [
  ` xmlns:w="${transitional}wordprocessingml/2006/main"`,
  `xmlns:r="${transitional}officeDocument/2006/relationships"`,
  'xmlns:v="urn:schemas-microsoft-com:vml"',
].join(' ')

/** Elements that are kept, with the attributes that are kept. Other elements are replaced by their content. */
const kept: ReadonlyMap<string, readonly string[]> = new Map([
  ...keptWith([], 'document body footnotes endnotes tbl tc tcPr cr noBreakHyphen softHyphen tab'),
  ...keptWith(['w:val'], 'b i strike vertAlign rStyle gridSpan vMerge'),
  ...keptWith(['w:id', 'w:type'], 'footnote endnote'),
  ...keptWith(['w:id'], 'footnoteReference endnoteReference'),
  ...keptWith(['w:fldCharType'], 'fldChar'),
  ...keptWith(['r:id', 'w:anchor'], 'hyperlink'),
  ...keptWith(['w:type'], 'br'),
  ...keptWith(['w:font', 'w:char'], 'sym'),
])
/** Elements that are dropped with their content: deleted or moved text, and elements without text. */
const dropped: ReadonlySet<string> = new Set([
  ...['del', 'moveFrom', 'Fallback', 'sectPr', 'sdtPr', 'tblPr', 'tblGrid', 'tabs', 'pPrChange', 'rPrChange', 'rt'],
  ...['tcPrChange', 'trPrChange', 'tblPrChange', 'annotationRef', 'numberingChange', 'delText', 'background'],
  ...['pPr', 'rPr', 'trPr'],
])
/** Elements of a paragraph that are written in a way of their own. */
const special: ReadonlySet<string> = new Set(['r', 't', 'instrText', 'oMath', 'drawing', 'pict', 'object'])

export type RewriteContext = { styles: ParagraphStyles; numbers: ListNumbers; embedded: EmbeddedContent }

/**
 * Rewrites a part of a document with no more than what is read of it, which bounds the cost of reading it: revisions are accepted,
 * comments and hidden text are gone, pictures are their descriptions, equations are text, and paragraphs are headings if their style is
 * based on one. Tables stream by row and other text by paragraph, so that only these are in memory as trees.
 * @throws {ExtractionError}
 */
export function rewritePart(part: Buffer, context: RewriteContext): string {
  const blocks = new BlockWriter(context)
  scanElements(part, isUnit, blocks)
  return blocks.xml()
}

/** True for elements that are written as a whole. */
function isUnit(name: string): boolean {
  return (
    name === 'p' ||
    name === 'tr' ||
    name === 'hyperlink' ||
    name === 'altChunk' ||
    special.has(name) ||
    dropped.has(name)
  )
}

/** Writes paragraphs and tables: those of a part, or of a text box in it. */
class BlockWriter {
  readonly #context: RewriteContext
  readonly #out: string[] = []
  #elements = 0
  /** Number of rows of each open table. */
  readonly #rows: number[] = []

  constructor(context: RewriteContext) {
    this.#context = context
  }

  readonly open = (name: string, attributes: XmlAttributes): void => {
    if (name === 'tbl') this.#rows.push(0)
    if (kept.has(name)) this.#push(beginTag(name, attributes))
  }

  readonly element = (element: XmlElement): void => {
    const { name, attributes } = element
    if (name === 'tr') this.#row(element)
    else if (name === 'p') this.#push(paragraph(element, this.#context))
    else if (name === 'altChunk') this.#push(this.#context.embedded(name, relationshipId(attributes) ?? ''))
    else this.#push(inlineXml([element], { ...this.#context, isShown: true }))
  }

  readonly close = (name: string): void => {
    if (name === 'tbl') this.#rows.pop()
    if (kept.has(name)) this.#push(`</w:${name}>`)
  }

  write(elements: readonly XmlElement[]): this {
    for (const element of elements) {
      if (isUnit(element.name)) this.element(element)
      else {
        this.open(element.name, element.attributes)
        this.write(element.children)
        this.close(element.name)
      }
    }
    return this
  }

  xml(): string {
    return this.#out.join('').replaceAll(`</w:t>${textBegin}`, '')
  }

  /** Marks the first row of a table as its header, as Markdown has it: few documents declare one. */
  #row(row: XmlElement): void {
    const isHeader = this.#rows.at(-1) === 0
    const isDeleted = child(row, 'trPr', 'del') !== undefined
    this.#rows.push((this.#rows.pop() ?? 0) + 1)
    this.#push(`<w:tr><w:trPr>${isHeader ? '<w:tblHeader/>' : ''}${isDeleted ? '<w:del/>' : ''}</w:trPr>`)
    this.write(row.children)
    this.#push('</w:tr>')
  }

  #push(xml: string): void {
    this.#elements += xml.match(counted)?.length ?? 0
    if (this.#elements > maxElements) throw new ExtractionError('too-large', 'The document has too many paragraphs.')
    this.#out.push(xml)
  }
}

/** Returns a paragraph. An empty one becomes an empty text, since there may be a million of these. */
function paragraph({ children }: XmlElement, context: RewriteContext): string {
  const properties = children.find(({ name }) => name === 'pPr')
  const attributeOf = (...path: string[]) => child(properties, ...path)?.attributes['w:val']
  const style = attributeOf('pStyle') ?? ''
  const list = attributeOf('numPr', 'numId')
  const level = attributeOf('numPr', 'ilvl') ?? '0'
  const number = list === undefined ? '' : context.numbers.next(list, Number(level) || 0)
  const content = inlineXml(children, { ...context, isShown: !context.styles.contents.has(style) })
  const isMerged = child(properties, 'rPr', 'del') !== undefined
  if (content === '' && !isMerged) return ''
  const heading = levelOf(attributeOf('outlineLvl')) ?? context.styles.headings.get(style)
  const name = heading === undefined ? style : `Heading${heading}`
  const numbering = `<w:ilvl w:val="${escapeXml(level)}"/><w:numId w:val="${escapeXml(list ?? '')}"/>`
  const written = [
    name === '' ? '' : `<w:pStyle w:val="${escapeXml(name)}"/>`,
    list === undefined ? '' : `<w:numPr>${numbering}</w:numPr>`,
    isMerged ? '<w:rPr><w:del/></w:rPr>' : '',
  ].join('')
  return `<w:p><w:pPr>${written}</w:pPr>${content.replace(textBegin, textBegin + number)}</w:p>`
}

/** Context within a line. `isShown`: false in tables of contents and hidden runs, whose text is not written. */
type InlineContext = RewriteContext & { isShown: boolean }

/** Returns the content of a paragraph. Joins runs: programs cut a sentence into many runs that look the same. */
function inlineXml(elements: readonly XmlElement[], context: InlineContext): string {
  let written = ''
  let last: { properties: string; text: string } | undefined
  const endRun = () => {
    if (last !== undefined) written += `<w:r>${last.properties}${last.text}</w:r>`
    last = undefined
  }
  for (const element of shownElements(elements)) {
    const { properties, content } =
      element.name === 'r' ? runOf(element, context) : { content: inline(element, context) }
    if (content === '') continue
    const isText = properties !== undefined && onlyText.test(content)
    if (isText && last?.properties === properties) last.text += content
    else {
      endRun()
      if (isText) last = { properties, text: content }
      else written += properties === undefined ? content : `<w:r>${properties}${content}</w:r>`
    }
  }
  endRun()
  return written
}

/** Yields elements that are written, out of the elements that are replaced by their content. */
function* shownElements(elements: readonly XmlElement[]): Generator<XmlElement> {
  for (const element of elements) {
    if (kept.has(element.name) || special.has(element.name)) yield element
    else if (!dropped.has(element.name)) yield* shownElements(element.children)
  }
}

function runOf(run: XmlElement, context: InlineContext): { properties: string; content: string } {
  const { raised } = context.styles
  const list = child(run, 'rPr')?.children ?? []
  const properties = Array.from(shownElements(list), (property) => {
    const align = property.name === 'rStyle' ? raised.get(property.attributes['w:val'] ?? '') : undefined
    return (align === undefined ? '' : `<w:vertAlign w:val="${escapeXml(align)}"/>`) + emptyTag(property)
  }).join('')
  const isHidden = list.some(({ name, attributes }) => name === 'vanish' && isTrue(attributes['w:val'] ?? 'true'))
  const inner = { ...context, isShown: context.isShown && !isHidden }
  const content = Array.from(shownElements(run.children), (part) => inline(part, inner)).join('')
  return { properties: properties === '' ? '' : `<w:rPr>${properties}</w:rPr>`, content }
}

function inline(element: XmlElement, context: InlineContext): string {
  const { name, attributes, children } = element
  switch (name) {
    case 't':
      return textXml(element.text, context)
    case 'instrText':
      return `<w:instrText>${escapeXml(element.text)}</w:instrText>`
    case 'oMath': {
      const text = textXml(equationText(element), context)
      return text === '' ? '' : `<w:r>${text}</w:r>`
    }
    case 'drawing':
    case 'pict':
    case 'object':
      return drawing(element, context)
    case 'r':
      return inlineXml([element], context)
    case 'fldChar':
      // A form field such as a checkbox or a list stores its value only in `ffData`.
      return emptyTag(element) + textXml(fieldValue(child(element, 'ffData')), context)
    default:
      return `${beginTag(name, attributes)}${inlineXml(children, context)}</w:${name}>`
  }
}

/** Returns the descriptions of pictures and shapes, which a reader would hear. Charts, diagrams and text boxes follow their paragraph. */
function drawing({ children }: XmlElement, context: InlineContext): string {
  const written = children.map((part) => {
    const { name, attributes } = part
    if (name === 'txbxContent') return textBox(new BlockWriter(context).write(part.children).xml())
    if (name === 'oMath') return inline(part, context)
    const content = context.embedded(name, relationshipId(attributes, name === 'relIds' ? 'dm' : 'id') ?? '')
    const isPicture = name === 'docPr' || name === 'shape'
    const description = isPicture ? (attributes.descr ?? attributes.alt)?.trim() : undefined
    return (content === '' ? '' : textBox(content)) + textXml(description ?? '', context) + drawing(part, context)
  })
  return written.join('')
}

function textBox(content: string): string {
  return `<w:pict><v:textbox><w:txbxContent>${content}</w:txbxContent></v:textbox></w:pict>`
}

/** Returns the chosen value of a field of a form (ECMA-376 Part 1, 17.16.17); empty if the value is text, which follows. */
function fieldValue(data: XmlElement | undefined): string {
  const box = child(data, 'checkBox')
  const field = box ?? child(data, 'ddList')
  const attributeOf = (name: string) => {
    const element = child(field, name)
    return element && (element.attributes['w:val'] ?? '1')
  }
  const chosen = attributeOf('checked') ?? attributeOf('result') ?? attributeOf('default')
  if (box !== undefined) return isTrue(chosen) ? '☒' : '☐'
  const entries = field?.children.filter(({ name }) => name === 'listEntry') ?? []
  return entries[Number(chosen ?? 0)]?.attributes['w:val'] ?? ''
}

function textXml(text: string, { isShown }: InlineContext): string {
  return text === '' || !isShown ? '' : `${textBegin}${escapeXml(text)}</w:t>`
}

function keptWith(attributes: readonly string[], names: string): [string, readonly string[]][] {
  return names.split(' ').map((name) => [name, attributes])
}

function beginTag(name: string, attributes: XmlAttributes): string {
  const values = (kept.get(name) ?? []).flatMap((key) =>
    attributes[key] === undefined ? [] : ` ${key}="${escapeXml(attributes[key])}"`,
  )
  const isRoot = name === 'document' || name === 'footnotes' || name === 'endnotes'
  return `<w:${name}${isRoot ? namespaces : ''}${values.join('')}>`
}

function emptyTag({ name, attributes }: XmlElement): string {
  return `${beginTag(name, attributes)}</w:${name}>`
}
