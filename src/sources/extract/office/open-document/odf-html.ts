import { ExtractionError } from '../../../extracted.ts'
import { child, escapeXml, type XmlAttributes, type XmlElement } from '../../xml.ts'

/** Elements of HTML that are written. */
const maxElements = 250_000
/** Columns of a table; a file may say of any cell that it is repeated a million times. */
const maxColumns = 256
const maxSpaces = 1000

/** What goes with all that is in it: what was deleted, what is generated, and what says nothing. */
const dropped: ReadonlySet<string> = new Set([
  ...['tracked-changes', 'annotation', 'table-of-content', 'alphabetical-index', 'illustration-index', 'table-index'],
  ...[
    'forms',
    'scripts',
    'sequence-decls',
    'variable-decls',
    'user-field-decls',
    'shapes',
    'note-citation',
    'ruby-text',
  ],
  ...['event-listeners', 'dde-connection-decls', 'font-face-decls', 'object', 'object-ole', 'binary-data', 'settings'],
])

/** Elements of a text as elements of HTML. */
const tags: ReadonlyMap<string, string> = new Map([
  ['p', 'p'],
  ['list-item', 'li'],
  ['list-header', 'li'],
])

/** Writes the text of a document as HTML, as it streams by. */
export class OdfHtml {
  readonly #out: string[] = []
  readonly #notes: string[] = []
  readonly #path: string[] = []
  /** What each open element is closed with. */
  readonly #ends: string[] = []
  readonly #titles: Set<string>
  readonly #numbered = new Set<string>()
  #droppedAt = 0
  #elements = 0
  /** Names of the automatic style and of the list style that are being read. */
  #listStyle = ''
  readonly #lists: string[] = []
  /** Rows of the tables that are open; the first one is the header. */
  readonly #rows: number[] = []
  /** Where the note that is open began. */
  #noteAt = -1

  constructor(styles: XmlElement | undefined) {
    const common = child(styles, 'styles')?.children ?? []
    this.#titles = new Set(['Title', ...common.filter(isTitle).map(({ attributes }) => attributes['style:name'] ?? '')])
  }

  readonly open = (name: string, attributes: XmlAttributes): void => {
    this.#path.push(name)
    if (this.#droppedAt > 0) return
    let end = ''
    if (dropped.has(name)) this.#droppedAt = this.#path.length
    else if (this.#path.includes('body')) end = this.#openText(name, attributes)
    else this.#readStyle(name, attributes)
    this.#ends.push(end)
  }

  readonly text = (text: string): void => {
    const isText = /^(?:p|h|span|a|title|desc|ruby-base|meta|[a-z-]+)$/.test(this.#path.at(-1) ?? '')
    if (this.#droppedAt > 0 || !isText || !this.#isInParagraph()) return
    this.#out.push(escapeXml(text))
  }

  readonly close = (name: string): void => {
    const depth = this.#path.length
    this.#path.pop()
    if (this.#droppedAt > 0) {
      if (depth !== this.#droppedAt) return
      this.#droppedAt = 0
    }
    this.#out.push(this.#ends.pop() ?? '')
    if (name === 'list') this.#lists.pop()
    if (name === 'table') this.#rows.pop()
    if (name === 'note') this.#endNote()
  }

  html(): string {
    const notes = this.#notes.length > 0 ? `<ol>${this.#notes.join('')}</ol>` : ''
    return this.#out.join('') + notes
  }

  /** @returns what closes it */
  #openText(name: string, attributes: XmlAttributes): string {
    if (name === 'h') return this.#element(`h${levelOf(attributes['text:outline-level'])}`)
    if (name === 'p' && this.#titles.has(attributes['text:style-name'] ?? '') && !this.#path.includes('list')) {
      return this.#element('h1')
    }
    if (name === 'list') return this.#openList(attributes)
    if (name === 'table') {
      this.#rows.push(0)
      return this.#element('table')
    }
    if (name === 'table-row') {
      this.#rows.push((this.#rows.pop() ?? 0) + 1)
      return this.#element('tr')
    }
    if (name === 'table-cell' || name === 'covered-table-cell') return this.#openCell(attributes)
    if (name === 'a') return this.#element('a', `href="${escapeXml(attributes['xlink:href'] ?? '')}"`)
    if (name === 'note') this.#noteAt = this.#out.length
    else if (name === 's') this.#out.push(' '.repeat(Math.min(Number(attributes['text:c'] ?? 1) || 1, maxSpaces)))
    else if (name === 'tab') this.#out.push(' ')
    else if (name === 'line-break') this.#out.push('<br/>')
    const tag = tags.get(name)
    return tag === undefined ? '' : this.#element(tag)
  }

  #element(tag: string, attributes = ''): string {
    if (++this.#elements > maxElements) throw new ExtractionError('too-large', 'The document has too many paragraphs.')
    this.#out.push(attributes === '' ? `<${tag}>` : `<${tag} ${attributes}>`)
    return `</${tag}>`
  }

  /** A list within another has its style. */
  #openList(attributes: XmlAttributes): string {
    const style = attributes['text:style-name'] ?? this.#lists.at(-1) ?? ''
    this.#lists.push(style)
    return this.#element(this.#numbered.has(style) ? 'ol' : 'ul')
  }

  #openCell(attributes: XmlAttributes): string {
    const repeated = Math.min(Number(attributes['table:number-columns-repeated'] ?? 1) || 1, maxColumns)
    const tag = this.#rows.at(-1) === 1 ? 'th' : 'td'
    for (let at = 1; at < repeated; at++) this.#out.push(this.#element(tag))
    return this.#element(tag)
  }

  /** What was written since its beginning goes to the end of the document. */
  #endNote(): void {
    const content = this.#out.splice(this.#noteAt).join('')
    const number = this.#notes.length + 1
    this.#notes.push(`<li id="footnote-${number}">${content}</li>`)
    this.#out.push(`<sup><a href="#footnote-${number}" id="footnote-ref-${number}">[${number}]</a></sup>`)
  }

  #readStyle(name: string, attributes: XmlAttributes): void {
    if (name === 'style' && this.#titles.has(attributes['style:parent-style-name'] ?? '')) {
      this.#titles.add(attributes['style:name'] ?? '')
    } else if (name === 'list-style') this.#listStyle = attributes['style:name'] ?? ''
    else if (name === 'list-level-style-number' && attributes['text:level'] === '1') this.#numbered.add(this.#listStyle)
  }

  #isInParagraph(): boolean {
    return this.#path.some((name) => name === 'p' || name === 'h' || name === 'title' || name === 'desc')
  }
}

function isTitle({ name, attributes }: XmlElement): boolean {
  return name === 'style' && attributes['style:parent-style-name'] === 'Title'
}

function levelOf(level: string | undefined): number {
  return Math.min(Math.max(Number(level) || 1, 1), 6)
}
