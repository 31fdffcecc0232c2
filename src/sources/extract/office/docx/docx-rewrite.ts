import { ExtractionError } from '../../../extracted.ts'
import { escapeXml, isTrue, relationshipId, scanXml, type XmlAttributes } from '../../xml.ts'
import type { EmbeddedContent } from './docx-embedded.ts'
import { EquationText } from './docx-equation.ts'
import { FormField } from './docx-form-field.ts'
import type { ListNumbers } from './docx-numbering.ts'
import { levelOf, type ParagraphStyles } from './docx-styles.ts'

/** Elements that are kept of a document. */
const maxElements = 250_000

const textBegin = '<w:t xml:space="preserve">'
const transitional = 'http://schemas.openxmlformats.org/'
const namespaces = [
  `xmlns:w="${transitional}wordprocessingml/2006/main"`,
  `xmlns:r="${transitional}officeDocument/2006/relationships"`,
  'xmlns:v="urn:schemas-microsoft-com:vml"',
].join(' ')

/** Elements that are kept, with the attributes that are kept. Other elements are replaced by their content. */
const kept: ReadonlyMap<string, readonly string[]> = new Map([
  ...['document', 'body', 'footnotes', 'endnotes', 'p', 'r', 'cr', 'noBreakHyphen', 'softHyphen'].map(
    (name): [string, string[]] => [name, []],
  ),
  ...['tbl', 'tr', 'trPr', 'tc', 'tcPr', 'instrText', 'tab', 'rPr'].map((name): [string, string[]] => [name, []]),
  ...['b', 'i', 'strike', 'vertAlign', 'rStyle', 'gridSpan', 'vMerge'].map((name): [string, string[]] => [
    name,
    ['w:val'],
  ]),
  ['footnote', ['w:id', 'w:type']],
  ['endnote', ['w:id', 'w:type']],
  ['footnoteReference', ['w:id']],
  ['endnoteReference', ['w:id']],
  ['fldChar', ['w:fldCharType']],
  ['hyperlink', ['r:id', 'w:anchor']],
  ['br', ['w:type']],
  ['sym', ['w:font', 'w:char']],
])
/** Elements that may come in millions. A run that continues the one before is not counted. */
const counted: ReadonlySet<string> = new Set(['p', 'r', 'tr', 'tc', 'hyperlink', 'br', 'footnote', 'endnote'])
/** Elements that are dropped with their content: deleted or moved text, and elements without text. */
const dropped: ReadonlySet<string> = new Set([
  ...['del', 'moveFrom', 'Fallback', 'sectPr', 'sdtPr', 'tblPr', 'tblGrid', 'tabs', 'pPrChange', 'rPrChange', 'rt'],
  ...['tcPrChange', 'trPrChange', 'tblPrChange', 'annotationRef', 'numberingChange', 'delText', 'background'],
])

/**
 * A part of a document with no more than what is read of it, which bounds what reading it takes: revisions are accepted, comments
 * and hidden text are gone, pictures are their descriptions, equations are text, paragraphs are headings where their style is based
 * on one. @throws {ExtractionError}
 */
export function rewritePart(
  part: Buffer,
  { styles, numbers }: { styles: ParagraphStyles; numbers: ListNumbers },
  embedded: EmbeddedContent = () => '',
): string {
  const writer = new PartWriter(styles, numbers, embedded)
  scanXml(part, writer)
  return writer.xml()
}

type ParagraphProperties = { style?: string; outline?: string; level?: string; list?: string; isMerged?: boolean }

class PartWriter {
  readonly #styles: ParagraphStyles
  readonly #numbers: ListNumbers
  /** The mark of the item whose text is to come. */
  #number = ''
  readonly #embedded: EmbeddedContent
  /** The field of an older form that is open. */
  #field: FormField | undefined
  readonly #out: string[] = []
  readonly #path: string[] = []
  /** Open paragraphs: the place where each begins, and whether it is in a table of contents. */
  readonly #paragraphs: { at: number; isContents: boolean }[] = []
  /** Depth of the dropped element; 0 if none is open. */
  #droppedAt = 0
  #elements = 0
  /** Places at which the open runs begin. */
  readonly #runs: number[] = []
  /** The properties of the run that was closed last, and where it ends. */
  #lastRun = { properties: '', end: -1 }
  /** Progress in each open table. */
  readonly #tables: ('table' | 'first row' | 'rows')[] = []
  #drawingAt = 0
  /** Depths of the drawings whose text boxes are open. */
  readonly #boxes: number[] = []
  #properties: ParagraphProperties | undefined
  #equation: EquationText | undefined
  #equationAt = 0
  #isHiddenRun = false

  constructor(styles: ParagraphStyles, numbers: ListNumbers, embedded: EmbeddedContent) {
    this.#styles = styles
    this.#numbers = numbers
    this.#embedded = embedded
  }

  readonly open = (name: string, attributes: XmlAttributes): void => {
    this.#path.push(name)
    if (this.#droppedAt > 0) return
    if (this.#equation !== undefined) this.#equation.open(name, attributes)
    else if (this.#field !== undefined) this.#field.open(name, attributes)
    else if (name === 'ffData') this.#field = new FormField()
    else if (this.#properties !== undefined) this.#readProperty(this.#properties, name, attributes)
    else if (name === 'pPr') this.#properties = {}
    else if (name === 'oMath') this.#beginEquation()
    else if (name === 'txbxContent') this.#beginBox()
    else if (this.#isInDrawing()) this.#describe(attributes)
    else if (name === 'drawing' || name === 'pict' || name === 'object') this.#drawingAt = this.#path.length
    else if (dropped.has(name) && this.#path.at(-2) !== 'trPr') this.#droppedAt = this.#path.length
    else if (name === 'altChunk') this.#out.push(this.#embedded(name, relationshipId(attributes) ?? ''))
    else if (name === 'vanish' && this.#path.at(-3) === 'r') this.#isHiddenRun = isOn(attributes)
    else this.#openKept(name, attributes)
  }

  readonly text = (text: string): void => {
    if (this.#droppedAt > 0) return
    if (this.#equation !== undefined) this.#equation.text(text)
    else if (this.#isInDrawing()) return
    else if (this.#path.at(-1) === 'instrText') this.#out.push(escapeXml(text))
    else if (this.#path.at(-1) === 't' && this.#path.at(-2) === 'r') this.#write(text)
  }

  readonly close = (name: string): void => {
    const depth = this.#path.length
    this.#path.pop()
    if (this.#droppedAt > 0) {
      if (depth === this.#droppedAt) this.#droppedAt = 0
    } else if (this.#equation !== undefined) {
      if (depth === this.#equationAt) this.#endEquation()
      else this.#equation.close(name)
    } else if (this.#field !== undefined && name !== 'fldChar') {
      if (name === 'ffData' && this.#path.at(-1) !== 'fldChar') this.#field = undefined
    } else if (this.#properties !== undefined) {
      if (name === 'pPr') this.#endProperties(this.#properties)
    } else if (name === 'txbxContent') this.#endBox()
    else if (this.#isInDrawing()) {
      if (depth === this.#drawingAt) this.#drawingAt = 0
    } else if (name === 'p') this.#endParagraph()
    else if (name === 'r') this.#endRun()
    else if (kept.has(name)) {
      this.#out.push(`</w:${name}>`)
      if (name === 'fldChar') this.#endField()
    } else if (name === 'del') this.#out.push('<w:del/>')
    if (name === 'tbl' && this.#droppedAt === 0 && !this.#isInDrawing()) this.#tables.pop()
    if (name === 'r') this.#isHiddenRun = false
  }

  xml(): string {
    return this.#out.join('').replaceAll(`</w:t>${textBegin}`, '')
  }

  #openKept(name: string, attributes: XmlAttributes): void {
    const wanted = kept.get(name)
    if (wanted === undefined) return
    if (counted.has(name) && ++this.#elements > maxElements)
      throw new ExtractionError('too-large', 'The document has too many paragraphs.')
    if (name === 'p') this.#paragraphs.push({ at: this.#out.length, isContents: false })
    else if (name === 'r') this.#runs.push(this.#out.length)
    else if (name === 'tbl') this.#tables.push('table')
    else if (name === 'tr' && this.#tables.at(-1) === 'table') this.#tables[this.#tables.length - 1] = 'first row'
    else if (name === 'tc' && this.#tables.at(-1) === 'first row') this.#endHeader('<w:trPr><w:tblHeader/></w:trPr>')
    const raised = name === 'rStyle' ? this.#styles.raised.get(attributes['w:val'] ?? '') : undefined
    if (raised !== undefined) this.#out.push(`<w:vertAlign w:val="${escapeXml(raised)}"/>`)
    const values = wanted.map((key) => [key, attributes[key]]).filter(([, value]) => value !== undefined)
    const written = values.map(([key, value]) => ` ${key}="${escapeXml(value ?? '')}"`).join('')
    this.#out.push(`<w:${name}${this.#path.length === 1 ? ` ${namespaces}` : ''}${written}>`)
    if (name === 'trPr' && this.#tables.at(-1) === 'first row') this.#endHeader('<w:tblHeader/>')
  }

  /** Marks the first row of a table as its header, as Markdown has it: few documents declare one. */
  #endHeader(mark: string): void {
    this.#out.push(mark)
    this.#tables[this.#tables.length - 1] = 'rows'
  }

  /** A paragraph in which nothing stands leaves nothing, of which there may be a million. */
  #endParagraph(): void {
    this.#number = ''
    const paragraph = this.#paragraphs.pop()
    if (paragraph?.at === this.#out.length - 1) {
      this.#out.pop()
      this.#elements--
    } else this.#out.push('</w:p>')
  }

  /** Joins runs: programs cut a sentence into many runs that look the same. */
  #endRun(): void {
    const [, ...parts] = this.#out.splice(this.#runs.pop() ?? this.#out.length)
    const begin = parts.indexOf('</w:rPr>') + 1
    const properties = begin > 2 ? parts.slice(0, begin).join('') : ''
    const content = parts.slice(begin)
    const isText = content.every((part) => part.startsWith(textBegin))
    const continues = isText && this.#lastRun.end === this.#out.length && this.#lastRun.properties === properties
    if (continues || content.length === 0) this.#elements--
    if (content.length === 0) return
    if (continues) this.#out.pop()
    else this.#out.push(`<w:r>${properties}`)
    this.#out.push(...content, '</w:r>')
    this.#lastRun = { properties, end: isText ? this.#out.length : -1 }
  }

  #readProperty(properties: ParagraphProperties, name: string, attributes: XmlAttributes): void {
    const value = attributes['w:val']
    if (value === undefined && name !== 'del') return
    if (name === 'pStyle') properties.style = value ?? ''
    else if (name === 'outlineLvl') properties.outline = value ?? ''
    else if (name === 'ilvl') properties.level = value ?? ''
    else if (name === 'numId') properties.list = value ?? ''
    else if (name === 'del' && this.#path.at(-2) === 'rPr') properties.isMerged = true
  }

  #endProperties({ style = '', outline, level, list, isMerged }: ParagraphProperties): void {
    this.#properties = undefined
    const paragraph = this.#paragraphs.at(-1)
    if (paragraph === undefined) return
    paragraph.isContents = this.#styles.contents.has(style)
    if (list !== undefined) this.#number = this.#numbers.next(list, Number(level ?? 0) || 0)
    const heading = levelOf(outline) ?? this.#styles.headings.get(style)
    const name = heading === undefined ? style : `Heading${heading}`
    const written = [
      ...(name === '' ? [] : [`<w:pStyle w:val="${escapeXml(name)}"/>`]),
      ...(list === undefined
        ? []
        : [`<w:numPr><w:ilvl w:val="${escapeXml(level ?? '0')}"/><w:numId w:val="${escapeXml(list)}"/></w:numPr>`]),
      ...(isMerged ? ['<w:rPr><w:del/></w:rPr>'] : []),
    ]
    if (written.length === 0) return
    this.#out.push(`<w:pPr>${written.join('')}</w:pPr>`)
    // A paragraph of nothing but its properties is as blank as one without.
    if (!isMerged && paragraph.at === this.#out.length - 2) {
      const begin = this.#out.splice(paragraph.at).join('')
      this.#out.push(begin)
    }
  }

  #isInDrawing(): boolean {
    return this.#drawingAt > 0
  }

  /** A box to tick or a list to choose from says in its data what was chosen, and nowhere else. */
  #endField(): void {
    this.#write(this.#field?.value() ?? '')
    this.#field = undefined
  }

  /** Pictures and shapes: the description that a reader would hear. Charts and diagrams, like text boxes: after their paragraph. */
  #describe(attributes: XmlAttributes): void {
    const name = this.#path.at(-1) ?? ''
    const content = this.#embedded(name, relationshipId(attributes, name === 'relIds' ? 'dm' : 'id') ?? '')
    this.#elements += content.split('<w:p>').length - 1
    if (content !== '')
      this.#out.push(`<w:pict><v:textbox><w:txbxContent>${content}</w:txbxContent></v:textbox></w:pict>`)
    const isPicture = name === 'docPr' || name === 'shape'
    const description = isPicture ? (attributes.descr ?? attributes.alt)?.trim() : undefined
    if (description) this.#write(description)
  }

  /** A text box stands after its paragraph. */
  #beginBox(): void {
    this.#boxes.push(this.#drawingAt)
    this.#drawingAt = 0
    this.#out.push('<w:pict><v:textbox><w:txbxContent>')
  }

  #endBox(): void {
    this.#drawingAt = this.#boxes.pop() ?? 0
    this.#out.push('</w:txbxContent></v:textbox></w:pict>')
  }

  #beginEquation(): void {
    this.#equation = new EquationText()
    this.#equationAt = this.#path.length
  }

  #endEquation(): void {
    const text = this.#equation?.result() ?? ''
    this.#equation = undefined
    if (text === '') return
    this.#out.push('<w:r>')
    this.#write(text)
    this.#out.push('</w:r>')
  }

  #write(text: string): void {
    if (text === '' || this.#isHiddenRun || this.#paragraphs.at(-1)?.isContents) return
    this.#out.push(`${textBegin}${this.#number}${escapeXml(text)}</w:t>`)
    this.#number = ''
  }
}

function isOn(attributes: XmlAttributes): boolean {
  const value = attributes['w:val']
  return value === undefined || isTrue(value)
}
